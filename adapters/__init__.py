"""One folder a platform, each translating between the club and that platform."""

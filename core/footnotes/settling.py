"""The settler: runs the stages over a stream, numbers notes by first appearance and counts what was dropped."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from core.footnotes.lining import Lines
from core.footnotes.marks import GONE
from core.footnotes.nearness import Places
from core.footnotes.quoting import Quotations
from core.footnotes.reasoning import Reasoning
from core.footnotes.scanning import Scanner
from core.footnotes.sweeping import Sweeper
from core.model import Dropped, Span
from core.quotes import holds
from core.tags import Reference, note, without_notes

_LONGEST_RAW = 80
"""Characters of a dropped tag that are kept for the log."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A settled draft. `markdown` is for `core.document.parse`; note `n` in it is `runs[n - 1]`."""

    markdown: str
    runs: tuple[Span, ...]
    dropped: tuple[Dropped, ...]
    cut: bool
    """True when the provider ended the draft at a length limit."""
    saw_closing_think: bool
    """True when the model sent only a closing reasoning mark: from its next answer on, use `hold_until_think_close`."""

    @property
    def counts(self) -> dict[str, int]:
        """Dropped tags by reason."""
        return dict(Counter(drop.reason for drop in self.dropped))


class _Rulings:
    """What becomes of each tag and each quotation of one draft. Knows the evidence and nothing of the stream.

    A part of its own so that the stages, which ask it, do not point back at the settler: a settler goes, with its evidence,
    when the last one lets go of it, not when the collector comes by (a pass of which holds up everybody).
    """

    def __init__(
        self,
        delivered: Collection[Span],
        passages: Sequence[str] | Callable[[], Sequence[str]],
        exempt: tuple[str, ...],
        grounded: bool,
        language: str | None,
    ) -> None:
        self._delivered = delivered
        self._passages = passages
        self._exempt = exempt
        self._grounded = grounded
        self._language = language
        self._places = Places()
        self.forget()

    def forget(self) -> None:
        """The draft begins anew."""
        self.numbers: dict[Span, int] = {}
        self.dropped: list[Dropped] = []

    def resolve(self, references: tuple[Reference, ...], raw: str) -> str:
        return "".join(
            self._resolved(reference, raw if len(references) == 1 else reference.raw) for reference in references
        )

    def _resolved(self, reference: Reference, raw: str) -> str:
        span = reference.span
        if self._grounded and span is not None and span in self._delivered:
            return note(self.numbers.setdefault(span, len(self.numbers) + 1))
        if not self._grounded:
            reason = Dropped(raw[:_LONGEST_RAW], "general_knowledge")
        elif span is None:
            reason = Dropped(raw[:_LONGEST_RAW], "malformed")
        else:
            reason = Dropped(raw[:_LONGEST_RAW], "not_in_evidence")
        self.dropped.append(reason)
        return GONE

    def _evidence(self) -> Sequence[str]:
        return self._passages() if callable(self._passages) else self._passages

    def printed(self, text: str) -> bool:
        return any(text in passage for passage in self._evidence())

    def verbatim(self, words: str) -> bool:
        return holds(words, self._places.near(words, self._evidence()), self._language) or holds(words, self._exempt)

    def stands(self, words: str) -> bool:
        """True when the book itself has the words with the quotation marks at their edges."""
        return holds(words, self._places.near(words, self._evidence()), self._language, marks=True)


class Settler:
    """Settles one draft while it streams in; the work is linear in its length.

    `runs` are the delivered runs and `passages` the delivered text in contiguous stretches; both may grow between
    pieces. Words of `exempt` (the question, permitted titles) may stand in quotation marks. With `grounded` False
    (general knowledge, chat) every tag is dropped. `language` is the book's (primary subtag), or None when there are
    several: it says which words deny, for an ellipsis never hides one.
    """

    def __init__(
        self,
        runs: Collection[Span],
        passages: Sequence[str] | Callable[[], Sequence[str]] = (),
        *,
        exempt: Iterable[str] = (),
        grounded: bool = True,
        language: str | None = None,
        hold_until_think_close: bool = False,
    ) -> None:
        self._rulings = _Rulings(runs, passages, tuple(text for text in exempt if text), grounded, language)
        self._reasoning = Reasoning(hold_until_think_close)
        self._begin()

    def _begin(self) -> None:
        self._rulings.forget()
        self._parts: list[str] = []
        self._scanner = Scanner(self._rulings.resolve, self._rulings.printed)
        self._quotations = Quotations(self._rulings.verbatim, self._rulings.stands)
        self._sweeper = Sweeper()
        self._lines = Lines()

    @property
    def markdown(self) -> str:
        """All that may be shown by now: settled Markdown, never taken back except when reasoning turns out to be such.

        Joined on demand: ask when you render, not at every piece.
        """
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    @property
    def runs(self) -> tuple[Span, ...]:
        """The runs behind the notes so far; numbers are final. The last ones may not be visible yet."""
        return tuple(self._rulings.numbers)

    def feed(self, piece: str) -> bool:
        """Take a piece of the draft; True when `markdown` has changed."""
        text, restarted = self._reasoning.feed(without_notes(piece))
        if restarted:
            self._begin()
        return self._pass(text) or restarted

    def finish(self, reason: str = "stop") -> Settled:
        """The draft is over; `reason` as in `core.model.Finished`. A tag cut off at the end is dropped."""
        text, restarted = self._reasoning.feed("", final=True)
        if restarted:
            self._begin()
        self._pass(text, final=True, cut=reason != "stop")
        return Settled(
            self.markdown.rstrip(),
            self.runs,
            tuple(self._rulings.dropped),
            reason == "length",
            self._reasoning.saw_only_closing,
        )

    def _pass(self, text: str, *, final: bool = False, cut: bool = False) -> bool:
        if not text and not final:
            return False
        scanned = self._scanner.feed(text, final=final, cut=cut)
        shown = self._lines.feed(self._sweeper.feed(self._quotations.feed(scanned, final), final), final)
        if shown:
            self._parts.append(shown)
        return bool(shown)


def settle(
    draft: str,
    runs: Collection[Span],
    passages: Sequence[str] = (),
    *,
    exempt: Iterable[str] = (),
    grounded: bool = True,
    language: str | None = None,
    reason: str = "stop",
) -> Settled:
    """Settle a whole draft at once: what a `Settler` ends with after any way of cutting it into pieces."""
    settler = Settler(runs, passages, exempt=exempt, grounded=grounded, language=language)
    settler.feed(draft)
    return settler.finish(reason)

"""What `loccit doctor` says of Telegram: who the bot is, and whether privacy mode keeps mentions and files from it."""

from telegram.error import InvalidToken, TelegramError

from adapters.telegram.app import NAME, Settings
from adapters.telegram.wire import open_bot
from core.model import Notice


async def examine(settings: Settings) -> tuple[list[Notice], bool]:
    """Sentences for whoever runs the bot, and whether all is well."""
    bot = open_bot(settings.token, settings.base_url, settings.base_file_url)
    try:
        await bot.initialize()
        me = await bot.get_me()
    except InvalidToken:
        return [Notice("token_refused", {"platform": NAME, "setting": "TELEGRAM_BOT_TOKEN"})], False
    except TelegramError:
        return [Notice("platform_unreachable", {"platform": NAME})], False
    finally:
        await bot.shutdown()
    privacy = "doctor_telegram_privacy_off" if me.can_read_all_group_messages else "doctor_telegram_privacy_on"
    return [Notice("doctor_telegram_up", {"name": me.username or ""}), Notice(privacy)], True

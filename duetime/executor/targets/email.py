"""The target `email`: one message, through SES on AWS or an SMTP server on one machine.

Both send the same bytes. The Message-ID is made from the task's id, so a mailbox can recognise a
repetition; SES replaces it, so the header Duetime-Task-Id has the task's id as well."""

import smtplib
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, parseaddr
from typing import Any

from duetime.core.errors import Stopped
from duetime.core.ports import Clock
from duetime.core.service_calls import ServiceCall
from duetime.core.smtp_server import SmtpServer
from duetime.core.task import Task
from duetime.core.times import SECOND, Millis
from duetime.executor.run_control import RunControl
from duetime.executor.targets import TargetFailed
from duetime.executor.targets.services import Adapter, Answer, bad_payload
from duetime.handlers.context import Context

LONGEST_ANSWER = 30.0  # seconds that the server may take for one command
TASK_ID = "Duetime-Task-Id"


def build_message(task: Task, context: Context, now: Millis) -> EmailMessage:
    """Returns the message, without the recipients of `bcc`."""
    target, content = task.spec.target, task.spec.payload
    if not isinstance(content, dict):
        raise bad_payload("must be an object with subject, and text or html")
    message = EmailMessage(policy=SMTP)
    try:
        for name, value in _headers(target, content).items():
            message[name] = value
    except (ValueError, TypeError) as error:  # a line break, from a template
        raise bad_payload(str(error)) from None
    domain = parseaddr(target["from"])[1].rpartition("@")[2]
    message["Message-ID"] = f"<{context.idempotency_key}@{domain}>"
    message[TASK_ID] = context.idempotency_key
    message["Date"] = formatdate(now / SECOND)
    _add_content(message, content)
    return message


def _headers(target: Any, content: Any) -> dict[str, str]:
    lists = {name: ", ".join(target.get(name, ())) for name in ("to", "cc", "reply_to")}
    headers = {
        "From": target["from"],
        "To": lists["to"],
        "Cc": lists["cc"],
        "Reply-To": lists["reply_to"],
        "Subject": content.get("subject", ""),
    }
    return {name: value for name, value in headers.items() if value}


def _add_content(message: EmailMessage, content: Any) -> None:
    text, html = content.get("text"), content.get("html")
    if not any(isinstance(part, str) for part in (text, html)):
        raise bad_payload("text or html is required, as a string")
    if text is not None:
        message.set_content(text)
    if html is not None and text is not None:
        message.add_alternative(html, subtype="html")
    elif html is not None:
        message.set_content(html, subtype="html")


def recipients(target: Any) -> list[str]:
    """Returns the addresses alone, each once."""
    everyone = (one for name in ("to", "cc", "bcc") for one in target.get(name, ()))
    return list(dict.fromkeys(parseaddr(one)[1] for one in everyone))


class SmtpTarget:
    def __init__(self, server: SmtpServer, clock: Clock) -> None:
        self._server = server
        self._clock = clock

    def __call__(self, task: Task, control: RunControl) -> Any:
        message = build_message(task, control.context, self._clock.now())
        sender = parseaddr(task.spec.target["from"])[1]
        try:
            client = self._connect(min(task.spec.timeout, LONGEST_ANSWER))
            with client, control.interrupt.stopping_with(_break_off(client)):
                self._begin(client)
                refused = client.send_message(message, sender, recipients(task.spec.target))
        except (smtplib.SMTPException, OSError) as error:
            if control.interrupt.triggered:
                raise Stopped from None
            raise _failure(error, self._server) from error
        result: dict[str, Any] = {"message_id": message["Message-ID"]}
        if refused:
            result["refused"] = {to: _reply(*reply) for to, reply in refused.items()}
        return result

    def _connect(self, timeout: float) -> smtplib.SMTP:
        server = self._server
        if server.tls == "always":
            context = ssl.create_default_context()
            return smtplib.SMTP_SSL(server.host, server.port, timeout=timeout, context=context)
        return smtplib.SMTP(server.host, server.port, timeout=timeout)

    def _begin(self, client: smtplib.SMTP) -> None:
        if self._server.tls == "starttls":
            client.starttls(context=ssl.create_default_context())
        if self._server.user is not None:
            client.login(self._server.user, self._server.password or "")


def _break_off(client: smtplib.SMTP) -> Callable[[], None]:
    def stop() -> None:
        if client.sock is not None:
            with suppress(OSError):  # the call has just ended by itself
                client.sock.shutdown(socket.SHUT_RDWR)

    return stop


def _failure(error: smtplib.SMTPException | OSError, server: SmtpServer) -> TargetFailed:
    match error:
        case smtplib.SMTPRecipientsRefused():
            codes = [code for code, _ in error.recipients.values()]
            replies = (f"{to}: {_reply(*reply)}" for to, reply in error.recipients.items())
            permanent = all(code >= 500 for code in codes)
            return TargetFailed(f"Smtp{codes[0]}", "; ".join(replies)[:1_000], permanent=permanent)
        case smtplib.SMTPResponseException():
            code, message = error.smtp_code, _reply(error.smtp_code, error.smtp_error)
            return TargetFailed(f"Smtp{code}", message[:1_000], permanent=code >= 500)
        case smtplib.SMTPNotSupportedError():
            return TargetFailed("SmtpNotSupported", str(error), permanent=True)
        case ssl.SSLCertVerificationError():
            return TargetFailed("BadCertificate", str(error), permanent=True)
    # smtplib raises SMTPServerDisconnected after a timeout as well.
    timed_out = isinstance(error, TimeoutError) or isinstance(error.__context__, TimeoutError)
    kind = "TimedOut" if timed_out else "ConnectionFailed"
    return TargetFailed(kind, f"{server.host}:{server.port}: {error}")


def _reply(code: int, text: bytes | str) -> str:
    return f"{code} {text.decode(errors='replace') if isinstance(text, bytes) else text}"


def ses_adapter(clock: Clock) -> Adapter:
    def call(task: Task, context: Context) -> ServiceCall:
        target = task.spec.target
        message = build_message(task, context, clock.now())
        destination = {
            f"{name.title()}Addresses": target[name]
            for name in ("to", "cc", "bcc")
            if target.get(name)
        }
        parameters: dict[str, Any] = {
            "FromEmailAddress": target["from"],
            "Destination": destination,
            "Content": {"Raw": {"Data": message.as_bytes()}},
        }
        return ServiceCall(service="sesv2", operation="send_email", parameters=parameters)

    return Adapter(call=call, result=_sent)


def _sent(_: Task, answer: Answer) -> dict[str, Any]:
    return {"message_id": answer["MessageId"]}

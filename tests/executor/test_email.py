"""The `email` target against a real SMTP server."""

import socket
import ssl
from collections.abc import Iterator
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from duetime.core.lifecycle import Status
from duetime.core.smtp_server import SmtpServer, parse_smtp_url
from duetime.core.task import Task
from duetime.executor.executor import Executor
from duetime.executor.targets.email import SmtpTarget
from tests.certificates import Certificates, make_certificates
from tests.factories import result_of
from tests.world import World

TARGET = {"type": "email", "from": "Shop <orders@example.com>", "to": ["Ann <ann@example.net>"]}
CONTENT = {"subject": "Your order — 7", "text": "Thank you, Zoë"}


class Mailbox:
    """Keeps what arrives. A test may give the reply to a recipient or to the message."""

    def __init__(self) -> None:
        self.envelopes: list[Envelope] = []
        self.replies: dict[str, str] = {}
        self.reply = "250 kept"

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: Any
    ) -> str:
        if address in self.replies:
            return self.replies[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        if self.reply.startswith("250"):
            self.envelopes.append(envelope)
        return self.reply

    def only(self) -> EmailMessage:
        [envelope] = self.envelopes
        content = envelope.content
        assert isinstance(content, bytes)
        return message_from_bytes(content, policy=default)  # type: ignore[return-value]


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox()


class AnyPort(Controller):
    """A server on a port that the system chooses."""

    def _trigger_server(self) -> None:
        assert self.server is not None
        self.port = self.server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
        super()._trigger_server()


def start(mailbox: Mailbox, **options: Any) -> Controller:
    controller = AnyPort(mailbox, hostname="127.0.0.1", port=0, **options)
    controller.start()
    return controller


@pytest.fixture
def server(mailbox: Mailbox) -> Iterator[Controller]:
    controller = start(mailbox)
    yield controller
    controller.stop()


def use(world: World, server: SmtpServer) -> None:
    world.chance.luck = 0
    world.executor = Executor(world.ports, {"email": SmtpTarget(server, world.clock)})


@pytest.fixture
def plain(world: World, server: Controller) -> None:
    use(world, parse_smtp_url(f"smtp://127.0.0.1:{server.port}"))


def send(world: World, payload: Any = CONTENT, **target: Any) -> Task:
    task_id = world.submit(target={**TARGET, **target}, payload=payload)
    world.deliver()
    return world.task(task_id)


def error_of(task: Task) -> tuple[str, str]:
    assert task.current is not None
    assert task.current.error is not None
    return task.current.error.type, task.current.error.message


@pytest.mark.usefixtures("plain")
def test_email_arrives_with_its_headers_and_both_parts(world: World, mailbox: Mailbox):
    content = {**CONTENT, "html": "<p>Thank you, Zoë</p>"}
    task = send(world, content, cc=["bob@example.net"], reply_to=["help@example.com"])

    message = mailbox.only()
    assert message["From"] == "Shop <orders@example.com>"
    assert message["To"] == "Ann <ann@example.net>"
    assert message["Cc"] == "bob@example.net"
    assert message["Reply-To"] == "help@example.com"
    assert message["Subject"] == CONTENT["subject"]
    assert message["Date"].datetime.timestamp() == world.clock.now() // 1_000
    text, html = message.get_body(["plain"]), message.get_body(["html"])
    assert text is not None
    assert html is not None
    assert text.get_content() == "Thank you, Zoë\r\n"
    assert html.get_content() == "<p>Thank you, Zoë</p>\r\n"
    assert mailbox.envelopes[0].mail_from == "orders@example.com"
    assert mailbox.envelopes[0].rcpt_tos == ["ann@example.net", "bob@example.net"]
    assert result_of(task) == {"message_id": f"<{task.id}@example.com>"}


@pytest.mark.usefixtures("plain")
def test_email_has_a_message_id_made_from_the_task(world: World, mailbox: Mailbox):
    task = send(world)

    assert mailbox.only()["Message-ID"] == f"<{task.id}@example.com>"
    assert mailbox.only()["Duetime-Task-Id"] == task.id


@pytest.mark.usefixtures("plain")
def test_email_bcc_gets_the_message_and_is_not_named_in_it(world: World, mailbox: Mailbox):
    send(world, bcc=["Audit <audit@example.com>"])

    assert "audit@example.com" in mailbox.envelopes[0].rcpt_tos
    assert b"audit" not in (mailbox.envelopes[0].content or b"")


@pytest.mark.usefixtures("plain")
def test_email_of_html_alone(world: World, mailbox: Mailbox):
    send(world, {"subject": "Hi", "html": "<p>Hi</p>"})

    assert mailbox.only().get_content_type() == "text/html"


@pytest.mark.usefixtures("plain")
def test_every_attempt_of_an_email_has_the_same_message_id(world: World, mailbox: Mailbox):
    mailbox.reply = "451 try later"
    task = send(world)
    mailbox.reply = "250 kept"
    world.advance_to(task.due_at)
    world.deliver()

    assert world.task(task.id).attempt == 2
    assert mailbox.only()["Message-ID"] == f"<{task.id}@example.com>"


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize(
    ("reply", "status", "kind"),
    [
        ("451 try later", Status.RETRYING, "Smtp451"),
        ("554 refused", Status.DEAD, "Smtp554"),
    ],
)
def test_email_reply_of_4xx_is_retried_and_of_5xx_permanent(
    world: World, mailbox: Mailbox, reply: str, status: Status, kind: str
):
    mailbox.reply = reply
    task = send(world)

    assert (task.status, error_of(task)) == (status, (kind, reply))


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize(
    ("reply", "status"), [("450 greylisted", Status.RETRYING), ("550 unknown", Status.DEAD)]
)
def test_email_whose_every_recipient_is_refused_fails(
    world: World, mailbox: Mailbox, reply: str, status: Status
):
    mailbox.replies["ann@example.net"] = reply
    task = send(world)

    assert task.status is status
    assert error_of(task)[1] == f"ann@example.net: {reply}"


@pytest.mark.usefixtures("plain")
def test_email_with_a_refused_recipient_is_sent_to_the_others(world: World, mailbox: Mailbox):
    mailbox.replies["bob@example.net"] = "550 unknown"
    task = send(world, to=["ann@example.net", "bob@example.net"])

    assert task.status is Status.SUCCEEDED
    assert result_of(task)["refused"] == {"bob@example.net": "550 unknown"}
    assert len(mailbox.envelopes) == 1


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ("x", "payload: must be an object with subject, and text or html"),
        ({"subject": "a"}, "payload: text or html is required, as a string"),
        ({"subject": "a\r\nBcc: eve@example.org", "text": ""}, "payload: Header values may not"),
    ],
)
def test_email_that_a_template_made_unfit_fails_for_good_and_is_not_sent(
    world: World, mailbox: Mailbox, payload: Any, reason: str
):
    task = send(world, payload)

    assert task.status is Status.DEAD
    assert error_of(task)[0] == "BadPayload"
    assert error_of(task)[1].startswith(reason)
    assert mailbox.envelopes == []


def test_email_server_that_is_away_is_tried_again(world: World):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        use(world, parse_smtp_url(f"smtp://127.0.0.1:{unused.getsockname()[1]}"))
        task = send(world)

    assert (task.status, error_of(task)[0]) == (Status.RETRYING, "ConnectionFailed")


def test_email_server_that_is_silent_is_left_within_the_timeout(world: World):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        use(world, parse_smtp_url(f"smtp://127.0.0.1:{silent.getsockname()[1]}"))
        task_id = world.submit(target=TARGET, payload=CONTENT, timeout=1)
        world.deliver()

    task = world.task(task_id)
    assert (task.status, error_of(task)[0]) == (Status.RETRYING, "TimedOut")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


def server_context(certificates: Certificates) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificates.server)
    return context


def only_ann(_: SMTP, __: Session, ___: Envelope, ____: str, data: Any) -> AuthResult:
    return AuthResult(success=data == LoginPassword(b"ann", b"s3cret"), handled=False)


@pytest.fixture
def guarded(mailbox: Mailbox, certificates: Certificates) -> Iterator[Controller]:
    """A server that wants STARTTLS and a password."""
    controller = start(
        mailbox,
        tls_context=server_context(certificates),
        require_starttls=True,
        auth_required=True,
        authenticator=only_ann,
    )
    yield controller
    controller.stop()


def test_email_with_starttls_and_a_password(
    world: World,
    guarded: Controller,
    mailbox: Mailbox,
    certificates: Certificates,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates.authority))
    use(world, parse_smtp_url(f"smtp+starttls://ann:s3cret@127.0.0.1:{guarded.port}"))

    assert send(world).status is Status.SUCCEEDED
    assert len(mailbox.envelopes) == 1


def test_email_with_a_wrong_password_is_a_permanent_failure_without_the_password(
    world: World,
    guarded: Controller,
    certificates: Certificates,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates.authority))
    use(world, parse_smtp_url(f"smtp+starttls://ann:wrong1@127.0.0.1:{guarded.port}"))
    task = send(world)

    assert (task.status, error_of(task)[0]) == (Status.DEAD, "Smtp535")
    assert "wrong1" not in error_of(task)[1]


def test_email_server_with_an_unknown_certificate_gets_no_password(
    world: World, guarded: Controller, mailbox: Mailbox
):
    use(world, parse_smtp_url(f"smtp+starttls://ann:s3cret@127.0.0.1:{guarded.port}"))
    task = send(world)

    assert (task.status, error_of(task)[0]) == (Status.DEAD, "BadCertificate")
    assert mailbox.envelopes == []


def test_email_over_tls_from_the_start(
    world: World,
    mailbox: Mailbox,
    certificates: Certificates,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates.authority))
    controller = start(mailbox, ssl_context=server_context(certificates))
    use(world, parse_smtp_url(f"smtps://127.0.0.1:{controller.port}"))
    task = send(world)
    controller.stop()

    assert task.status is Status.SUCCEEDED


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("mail.example.com", "is not an address like"),
        ("http://mail.example.com", "is not an address like"),
        ("smtp://mail.example.com/inbox", "is not an address like"),
        ("smtp://mail.example.com:x", "has a port that is not a number"),
        ("smtp://ann:s3cret@mail.example.com", "sends a password unencrypted"),
    ],
)
def test_smtp_url_that_cannot_be_used_says_why_without_the_password(url: str, reason: str):
    with pytest.raises(ValueError, match=reason) as raised:
        parse_smtp_url(url)

    assert "s3cret" not in str(raised.value)


def test_smtp_url_has_the_usual_ports_and_decodes_its_password():
    server = parse_smtp_url("smtps://ann%40example.com:a%2Fb@mail.example.com")

    assert (server.port, server.user, server.password) == (465, "ann@example.com", "a/b")
    assert parse_smtp_url("smtp+starttls://mail.example.com").port == 587
    assert parse_smtp_url("smtp://mail.example.com").port == 25

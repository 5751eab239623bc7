"""The page about Django, in a small project: on_commit, the outbox, the handlers and the tests."""

from pathlib import Path

import pytest

from duetime.core.times import HOUR
from tests.docs.page import files_first
from tests.docs.reader import Reader, wsgi_client
from tests.world import World

PROJECT = {
    "site_settings.py": """
SECRET_KEY = "not secret"
INSTALLED_APPS = ["shop"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "shop.sqlite3"}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
ROOT_URLCONF = "urls"
ALLOWED_HOSTS = ["127.0.0.1"]
USE_TZ = True
""",
    "urls.py": """
from django.urls import path
from shop import views

urlpatterns = [path("orders", views.order)]
""",
    "manage.py": """
import sys
from django.core.management import execute_from_command_line

execute_from_command_line(sys.argv)
""",
    "shop/__init__.py": "",
    "shop/migrations/__init__.py": "",
    "shop/migrations/0001_initial.py": """
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    operations = [
        migrations.CreateModel(
            name="Order",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("email", models.EmailField(max_length=254)),
                ("reminded", models.BooleanField(default=False)),
            ],
        )
    ]
""",
}


def test_page_works_as_it_is_printed(
    reader: Reader, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "site_settings")
    for name, text in PROJECT.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    Path("shop.sqlite3").touch()
    *files, install, start, drain, test = files_first("how-to/django.md")
    reader.read([*files, install, start])
    reader.type("python manage.py migrate --verbosity 0")
    reader.site = wsgi_client(_wsgi())
    answer = reader.site.post("/orders", json={"email": "ada@example.com"})
    assert answer.json() == {"order": 1}
    _place_orders()
    reader.read([drain])
    assert "1 task" in reader.output[drain.text.strip()]

    world.advance(24 * HOUR)
    world.tick()
    world.deliver()
    assert _reminded() == ["ada@example.com", "grace@example.com"]

    reader.read([test])
    assert reader.failed == {}
    assert "Ran 1 test" in reader.output["python manage.py test"]


def _wsgi() -> object:
    from django.core.wsgi import get_wsgi_application

    return get_wsgi_application()


def _place_orders() -> None:
    """One that is committed, and one that is rolled back."""
    from django.db import transaction
    from shop.orders import place_order

    place_order("grace@example.com")
    with transaction.atomic():
        place_order("alan@example.com")
        transaction.set_rollback(True)


def _reminded() -> list[str]:
    from shop.models import Order

    return sorted(Order.objects.filter(reminded=True).values_list("email", flat=True))

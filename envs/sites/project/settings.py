"""Settings of the one project. The caller names the database in `REBIND_SITES_DB`, the static files in
`REBIND_SITES_STATIC`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from machina import MACHINA_MAIN_STATIC_DIR, MACHINA_MAIN_TEMPLATE_DIR
from oscar import INSTALLED_APPS as OSCAR_APPS
from oscar.defaults import *  # noqa: F403  (oscar's own way: it reads some 60 settings without defaults of its own)

_HERE = Path(__file__).parent
DATABASE = os.environ["REBIND_SITES_DB"]

SECRET_KEY = "loopback-only"  # served on loopback to one browser; nothing secret is signed
DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "testserver"]
ROOT_URLCONF = "rebind.envs.sites.project.urls"
SITE_ID = 1
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en-us"
LANGUAGES = [("en-us", "English")]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"

INSTALLED_APPS = [
    *OSCAR_APPS,
    "django.contrib.humanize",
    "sorl.thumbnail",
    "mptt",
    "machina",
    "machina.apps.forum",
    "machina.apps.forum_conversation",
    "machina.apps.forum_conversation.forum_attachments",
    "machina.apps.forum_conversation.forum_polls",
    "machina.apps.forum_feeds",
    "machina.apps.forum_moderation",
    "machina.apps.forum_search",
    "machina.apps.forum_tracking",
    "machina.apps.forum_member",
    "machina.apps.forum_permission",
    "django_nyt",
    "sekizai",
    "wiki",
    "wiki.plugins.attachments",
    "wiki.plugins.notifications",
    "wiki.plugins.images",
    "wiki.plugins.macros",
    "bootstrap4form",
    "rest_framework",
    "helpdesk",
    "rebind.envs.sites.inventory",
]
MIDDLEWARE = [
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "oscar.apps.basket.middleware.BasketMiddleware",
    "django.contrib.flatpages.middleware.FlatpageFallbackMiddleware",
    "machina.apps.forum_permission.middleware.ForumPermissionMiddleware",
]
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [_HERE / "templates", MACHINA_MAIN_TEMPLATE_DIR],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.contrib.auth.context_processors.auth",
                "django.template.context_processors.request",
                "django.template.context_processors.debug",
                "django.template.context_processors.i18n",
                "django.template.context_processors.media",
                "django.template.context_processors.static",
                "django.template.context_processors.tz",
                "django.contrib.messages.context_processors.messages",
                "oscar.apps.search.context_processors.search_form",
                "oscar.apps.checkout.context_processors.checkout",
                "oscar.apps.communication.notifications.context_processors.notifications",
                "oscar.core.context_processors.metadata",
                "machina.core.context_processors.metadata",
                "sekizai.context_processors.sekizai",
            ],
        },
    },
]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": DATABASE,
        "CONN_MAX_AGE": 0,  # no connection outlives its request, so that a reset finds none
        "OPTIONS": {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;",
        },
    }
}


class _NoMigrations:
    """Tables are made from the models as they stand: nothing is ever migrated."""

    def __contains__(self, item: str) -> bool:
        return True

    def __getitem__(self, item: str) -> None:
        return None


MIGRATION_MODULES = _NoMigrations()
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"},
    "machina_attachments": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "attachments"},
}
SESSION_ENGINE = "django.contrib.sessions.backends.db"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
AUTHENTICATION_BACKENDS = (
    "oscar.apps.customer.auth_backends.EmailBackend",
    "django.contrib.auth.backends.ModelBackend",
)
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # accounts of a toy company; quick to build
LOGIN_URL = "/shop/accounts/login/"
LOGIN_REDIRECT_URL = "/"
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
LOGGING = {
    "version": 1,
    "disable_existing_loggers": True,
    "handlers": {"stderr": {"class": "logging.StreamHandler"}},
    "loggers": {"django.request": {"handlers": ["stderr"], "level": "ERROR", "propagate": False}},
}

STATIC_URL = "/static/"
STATIC_ROOT = os.environ["REBIND_SITES_STATIC"]
STATICFILES_DIRS = [MACHINA_MAIN_STATIC_DIR]
WHITENOISE_MAX_AGE = 3600
MEDIA_URL = "/media/"
MEDIA_ROOT = str(Path(DATABASE).parent / "media")

HAYSTACK_CONNECTIONS = {"default": {"ENGINE": "rebind.envs.sites.project.search.Engine"}}

OSCAR_SHOP_NAME = "Northgate"
OSCAR_SHOP_TAGLINE = "Home, garden and outdoors"
OSCAR_DEFAULT_CURRENCY = "USD"
OSCAR_HOMEPAGE = "/shop/catalogue/"
OSCAR_SEND_REGISTRATION_EMAIL = False
OSCAR_FROM_EMAIL = "shop@northgate.example"
OSCAR_INITIAL_ORDER_STATUS = "Pending"
OSCAR_INITIAL_LINE_STATUS = "Pending"
OSCAR_ORDER_STATUS_PIPELINE = {
    "Pending": ("Being processed", "Cancelled"),
    "Being processed": ("Shipped", "Cancelled"),
    "Shipped": ("Complete",),
    "Complete": (),
    "Cancelled": (),
}
OSCAR_LINE_STATUS_PIPELINE = OSCAR_ORDER_STATUS_PIPELINE
OSCAR_REQUIRED_ADDRESS_FIELDS = ("first_name", "last_name", "line1", "line4", "postcode", "country")
OSCAR_THUMBNAILER = "rebind.envs.sites.project.thumbnails.Parcel"
OSCAR_MODERATE_REVIEWS = False
OSCAR_ALLOW_ANON_REVIEWS = False

MACHINA_FORUM_NAME = "Northgate Forum"
MACHINA_BASE_TEMPLATE_NAME = "forum_base.html"
MACHINA_DEFAULT_AUTHENTICATED_USER_FORUM_PERMISSIONS = [
    "can_see_forum",
    "can_read_forum",
    "can_start_new_topics",
    "can_reply_to_topics",
    "can_edit_own_posts",
    "can_delete_own_posts",
    "can_post_without_approval",
    "can_create_polls",
    "can_vote_in_polls",
]

WIKI_ACCOUNT_HANDLING = False
WIKI_ACCOUNT_SIGNUP_ALLOWED = False
WIKI_ANONYMOUS = False
WIKI_CHECK_SLUG_URL_AVAILABLE = False
WIKI_CAN_DELETE = staticmethod(lambda article, user: user.is_staff).__func__

HELPDESK_TEAMS_MODE_ENABLED = False
HELPDESK_REDIRECT_TO_LOGIN_BY_DEFAULT = False
HELPDESK_VIEW_A_TICKET_PUBLIC = False
HELPDESK_SUBMIT_A_TICKET_PUBLIC = False
HELPDESK_ACTIVATE_API_ENDPOINT = False
SILENCED_SYSTEM_CHECKS = ["fields.W342", "security.W004", "models.W042"]

"""Where each application lives."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import include, path
from machina import urls as machina_urls

from rebind.envs.sites.inventory.admin import office


def home(request: HttpRequest) -> HttpResponse:
    """What there is, as links."""
    return render(request, "home.html")


urlpatterns: list[Any] = [
    path("", home, name="home"),
    path("i18n/", include("django.conf.urls.i18n")),
    path("shop/", include(apps.get_app_config("oscar").urls[0])),
    path("forum/", include(machina_urls)),
    path("notifications/", include("django_nyt.urls")),
    path("wiki/", include("wiki.urls")),
    path("desk/", include("helpdesk.urls")),
    path("office/", include("rebind.envs.sites.inventory.urls")),
    path("inventory/", office.urls),
    path("admin/", admin.site.urls),  # helpdesk's own pages link to it
]

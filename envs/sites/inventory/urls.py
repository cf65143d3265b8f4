from __future__ import annotations

from django.urls import path

from rebind.envs.sites.inventory import views

app_name = "inventory"
urlpatterns = [
    path("catalog/", views.catalog, name="catalog"),
    path("catalog/<int:pk>/", views.order, name="order"),
    path("requests/", views.requests, name="requests"),
    path("requests/<int:pk>/cancel/", views.cancel, name="cancel"),
    path("charts/", views.charts, name="charts"),
]

from __future__ import annotations

from django.apps import AppConfig


class InventoryConfig(AppConfig):
    name = "rebind.envs.sites.inventory"
    label = "inventory"
    verbose_name = "Inventory"
    default_auto_field = "django.db.models.AutoField"

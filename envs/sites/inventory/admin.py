"""Lists with search, filters and sorting, on Django's own admin."""

from __future__ import annotations

from django.contrib import admin

from rebind.envs.sites.inventory.models import Asset, CatalogItem, ItemRequest


class OfficeSite(admin.AdminSite):
    """The admin, with what belongs to the inventory only."""

    site_header = site_title = "Northgate inventory"
    index_title = "Inventory"
    site_url = "/"
    enable_nav_sidebar = False


office = OfficeSite(name="office")


@admin.register(Asset, site=office)
class AssetAdmin(admin.ModelAdmin):
    list_display = ("tag", "name", "kind", "site", "state", "assigned_to", "warranty_until", "price")
    list_filter = ("kind", "site", "state")
    search_fields = ("tag", "name", "serial", "assigned_to__username", "assigned_to__last_name")
    list_per_page = 25


@admin.register(CatalogItem, site=office)
class CatalogItemAdmin(admin.ModelAdmin):
    list_display = ("name", "category", "price")
    list_filter = ("category",)
    search_fields = ("name", "description")


@admin.register(ItemRequest, site=office)
class ItemRequestAdmin(admin.ModelAdmin):
    list_display = ("id", "item", "quantity", "deliver_to", "state", "requested_by", "needed_by")
    list_filter = ("state", "deliver_to", "urgent")
    search_fields = ("item__name", "requested_by__username", "justification")
    list_per_page = 25

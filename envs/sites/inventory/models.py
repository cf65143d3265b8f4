"""Assets, what can be ordered, and the orders."""

from __future__ import annotations

from django.conf import settings
from django.db import models

KINDS = ("Laptop", "Monitor", "Phone", "Printer", "Server", "Switch", "Tablet", "Projector")
SITES = ("Bergen", "Dublin", "Graz", "Leeds", "Lyon", "Porto")
STATES = ("In use", "In stock", "In repair", "Retired")
CATEGORIES = ("Hardware", "Software", "Access", "Furniture")
REQUEST_STATES = ("Requested", "Approved", "Rejected", "Fulfilled")


def _choices(words: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(word, word) for word in words]


class Asset(models.Model):
    tag = models.CharField("asset tag", max_length=20, unique=True)
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=20, choices=_choices(KINDS))
    site = models.CharField(max_length=20, choices=_choices(SITES))
    state = models.CharField(max_length=20, choices=_choices(STATES), default="In stock")
    assigned_to = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    serial = models.CharField("serial number", max_length=40, blank=True)
    purchased = models.DateField()
    warranty_until = models.DateField(null=True, blank=True)
    price = models.DecimalField(max_digits=9, decimal_places=2)
    notes = models.TextField(blank=True)

    class Meta:
        ordering = ("tag",)

    def __str__(self) -> str:
        return f"{self.tag} {self.name}"


class CatalogItem(models.Model):
    name = models.CharField(max_length=120, unique=True)
    category = models.CharField(max_length=20, choices=_choices(CATEGORIES))
    description = models.TextField()
    price = models.DecimalField(max_digits=9, decimal_places=2)
    options = models.TextField(help_text="One choice a line.", blank=True)

    class Meta:
        ordering = ("category", "name")

    def __str__(self) -> str:
        return str(self.name)


class ItemRequest(models.Model):
    item = models.ForeignKey(CatalogItem, on_delete=models.CASCADE, related_name="requests")
    quantity = models.PositiveIntegerField(default=1)
    option = models.CharField(max_length=80, blank=True)
    needed_by = models.DateField()
    deliver_to = models.CharField("deliver to", max_length=20, choices=_choices(SITES))
    justification = models.TextField(blank=True)
    urgent = models.BooleanField(default=False)
    state = models.CharField(max_length=20, choices=_choices(REQUEST_STATES), default="Requested")
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    requested_at = models.DateTimeField()

    class Meta:
        ordering = ("-requested_at", "-pk")

    def __str__(self) -> str:
        return f"{self.quantity} × {self.item}"

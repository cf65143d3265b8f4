"""The service catalog, one's own requests, and charts of the assets."""

from __future__ import annotations

from typing import ClassVar

from django import forms
from django.contrib import messages
from django.contrib.admin.views.decorators import staff_member_required
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from rebind.envs.sites.inventory.models import CATEGORIES, Asset, CatalogItem, ItemRequest


class OrderForm(forms.ModelForm):
    class Meta:
        model = ItemRequest
        fields = ("quantity", "option", "needed_by", "deliver_to", "urgent", "justification")
        widgets: ClassVar = {
            "needed_by": forms.DateInput(attrs={"type": "date"}),
            "justification": forms.Textarea(attrs={"rows": 3}),
        }

    def __init__(self, *args: object, item: CatalogItem, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        options = [line.strip() for line in item.options.splitlines() if line.strip()]
        if options:
            self.fields["option"] = forms.ChoiceField(choices=[("", "---------"), *((o, o) for o in options)])
        else:
            del self.fields["option"]


@login_required
def catalog(request: HttpRequest) -> HttpResponse:
    """Everything that can be ordered, or what has the words of `q`, in one category where one is chosen."""
    items, chosen = CatalogItem.objects.all(), request.GET.get("category", "")
    query = request.GET.get("q", "").strip()
    if chosen:
        items = items.filter(category=chosen)
    for word in query.split():
        items = items.filter(name__icontains=word) | items.filter(description__icontains=word)
    known = {"items": items, "categories": CATEGORIES, "chosen": chosen, "query": query}
    return render(request, "inventory/catalog.html", known)


@login_required
def order(request: HttpRequest, pk: int) -> HttpResponse:
    item = get_object_or_404(CatalogItem, pk=pk)
    form = OrderForm(request.POST or None, item=item)
    if request.method == "POST" and form.is_valid():
        made = form.save(commit=False)
        made.item, made.requested_by, made.requested_at = item, request.user, timezone.now()
        made.save()
        messages.success(request, f"Request {made.pk} was placed: {made}.")
        return redirect("inventory:requests")
    return render(request, "inventory/order.html", {"item": item, "form": form})


@login_required
def requests(request: HttpRequest) -> HttpResponse:
    own = ItemRequest.objects.filter(requested_by=request.user).select_related("item")
    return render(request, "inventory/requests.html", {"requests": own})


@login_required
@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Takes back a request that nobody has decided on."""
    get_object_or_404(ItemRequest, pk=pk, requested_by=request.user, state="Requested").delete()
    messages.success(request, f"Request {pk} was cancelled.")
    return redirect("inventory:requests")


@staff_member_required
def charts(request: HttpRequest) -> HttpResponse:
    """Bars by kind, site and state: the number of assets, or what they cost."""
    measure = "cost" if request.GET.get("measure") == "cost" else "number"
    found = []
    for field, title in (("kind", "Assets by kind"), ("site", "Assets by site"), ("state", "Assets by state")):
        rows = Asset.objects.order_by().values(field).annotate(n=Count("id"), cost=Sum("price")).order_by(field)
        values = [(row[field], row["cost"] if measure == "cost" else row["n"]) for row in rows]
        top = max((value for _, value in values), default=1)
        bars = [
            {"label": label, "value": value, "width": int(360 * value / top), "y": 8 + 26 * place}
            for place, (label, value) in enumerate(values)
        ]
        found.append({"title": title, "bars": bars, "height": 26 * len(bars) + 12})
    return render(request, "inventory/charts.html", {"charts": found, "measure": measure})

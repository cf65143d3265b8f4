"""Assets: added, moved, handed out."""

from __future__ import annotations

from typing import ClassVar

from rebind.envs.apps.families.draw import choice, day, integer, phrase
from rebind.envs.apps.families.effects import Added, Changed, says
from rebind.envs.sites.families.base import (
    Bound,
    CannotBuild,
    Drawn,
    Expected,
    Family,
    Grounded,
    SiteView,
    visited,
)
from rebind.envs.sites.families.draws import ASSET, differs, listed, lookup, money, queries, query
from rebind.envs.sites.families.flows import (
    Oracle,
    choose,
    click,
    done,
    fill,
    form,
    open_asset,
)

SITES = "Bergen | Dublin | Graz | Leeds | Lyon | Porto"
STATES = "In use | In stock | In repair | Retired"
ASSETS = "/inventory/inventory/asset/"
ASSET_ID = lookup("SELECT id FROM inventory_asset WHERE tag = ?", "tag")
NO_ASSET = lambda _view, rng, _bound: f"NG-LA-{rng.randrange(5000, 9000)}"  # noqa: E731  (a draw, like its neighbours)


class AddAsset(Family):
    id = "desk/add-asset"
    group = "5-10"
    account, start = "carl.weiss", ASSETS
    drawn = (
        Drawn("tag", "parameter", lambda _v, rng, _b: f"NG-XX-{rng.randrange(2000, 3000)}", central=True),
        Drawn("name", "parameter", choice("Lumo 16 | Vista 32 | Quill 700 | Pica 7 | Beam XL")),
        Drawn("kind", "parameter", choice("Laptop | Monitor | Phone | Printer | Projector")),
        Drawn("site", "location", choice(SITES)),
        Drawn("serial", "parameter", lambda _v, rng, _b: f"SN{rng.randrange(100_000, 999_999)}"),
        Drawn("bought", "date", day(-60, -2)),
        Drawn("price", "parameter", integer(90, 1900)),
    )
    wordings = (
        'Add an asset to the inventory: tag {tag}, name "{name}", kind {kind}, site {site}, state In stock, '
        "serial number "
        "{serial}, purchased {bought}, price {price}.",
        'A {kind} named "{name}" was bought on {bought} for {price}. Enter it as asset {tag} at {site}, In '
        "stock, with the "
        "serial number {serial}.",
        'Register the new {kind} "{name}" in the inventory. Asset tag: {tag}. Serial number: {serial}. Site: '
        "{site}. State: "
        "In stock. Purchased: {bought}. Price: {price}.",
    )

    def oracle(self, b: Bound) -> Oracle:
        yield from click('link "Add asset"')
        yield from form(**{"Asset tag:": b.tag, "Name:": b.name, "Serial number:": b.serial, "Purchased:": b.bought})
        yield from choose('combobox "Kind:"', b.kind)
        yield from choose('combobox "Site:"', b.site)
        yield from fill('spinbutton "Price:"', b.price)
        yield from click('button "Save"')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        asset = Added(
            "inventory_asset",
            tag=b.tag,
            name=says(b.name),
            kind=b.kind,
            site=b.site,
            state="In stock",
            serial=b.serial,
            purchased=b.bought,
            price=money(b.price),
            mark="added: the asset is there",
        )
        return Expected(effects=(asset,), marks=(visited("form: opened the form", f"{ASSETS}add/"),))


class MoveAsset(Family):
    id = "desk/move-asset"
    group = "5-10"
    account, start = "dina.popov", ASSETS
    drawn = (
        Drawn("tag", "record", ASSET, central=True),
        Drawn("site", "location", choice(SITES)),
        Drawn(
            "note", "parameter", phrase("{a} {b}", a="Moved | Sent | Handed over", b="by van. | by post. | in person.")
        ),
    )
    grounded = (Grounded("asset_id", "record", ASSET_ID),)
    absent: ClassVar = {"tag": NO_ASSET}
    wordings = (
        'The asset {tag} has moved to {site}: change its site, and set its notes to "{note}".',
        'In the inventory, set the site of {tag} to {site} and its notes to "{note}".',
        'Asset {tag} is at {site} now. Update it, with "{note}" as the notes.',
    )

    def oracle(self, b: Bound) -> Oracle:
        yield from open_asset(b.tag)
        yield from choose('combobox "Site:"', b.site)
        yield from fill('textbox "Notes:"', b.note)
        yield from click('button "Save"')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        differs(start, "inventory_asset", b.asset_id, site=b.site)
        moved = Changed(
            "inventory_asset", b.asset_id, site=b.site, notes=says(b.note), mark="moved: the asset is there"
        )
        return Expected(effects=(moved,), marks=(visited("form: opened the asset", f"{ASSETS}\\d+/change/"),))


class MoveAssets(Family):
    id = "desk/move-many-assets"
    group = "21-35"
    account, start = "erik.sand", ASSETS
    drawn = (
        Drawn(
            "tags",
            "record",
            queries(5, "SELECT tag FROM inventory_asset WHERE state <> 'In use' ORDER BY id"),
            central=True,
            show=listed,
        ),
        Drawn("site", "location", choice(SITES)),
        Drawn("state", "state", choice("In stock | In repair | Retired")),
    )
    grounded = (
        Grounded(
            "asset_ids",
            "record",
            lambda v, b: [v.value("SELECT id FROM inventory_asset WHERE tag = ?", tag) for tag in b.tags],
        ),
    )
    wordings = (
        'The assets {tags} are now at {site}, and their state is "{state}": bring the inventory up to date.',
        'Set the site of the assets {tags} to {site} and their state to "{state}".',
        'In the inventory, {tags} all go to {site} with the state "{state}".',
    )

    def oracle(self, b: Bound) -> Oracle:
        for tag in b.tags:
            yield from open_asset(tag)
            yield from choose('combobox "Site:"', b.site)
            yield from choose('combobox "State:"', b.state)
            yield from click('button "Save"')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        effects = []
        for n, (one, tag) in enumerate(zip(b.asset_ids, b.tags, strict=True), 1):
            row = start.row("SELECT site, state FROM inventory_asset WHERE id = ?", one)
            if (row["site"], row["state"]) == (b.site, b.state):
                raise CannotBuild(f"{tag} is there already")
            effects.append(
                Changed("inventory_asset", one, site=b.site, state=b.state, mark=f"moved-{n}: {tag} is right")
            )
        return Expected(effects=effects)


class LendAsset(Family):
    id = "desk/hand-out-asset"
    group = "5-10"
    account, start = "carl.weiss", ASSETS
    drawn = (
        Drawn(
            "tag", "record", query("SELECT tag FROM inventory_asset WHERE state = 'In stock' ORDER BY id"), central=True
        ),
        Drawn("user", "user", query("SELECT username FROM auth_user ORDER BY id")),
        Drawn("until", "date", day(200, 400)),
    )
    grounded = (Grounded("asset_id", "record", ASSET_ID),)
    absent: ClassVar = {"tag": NO_ASSET}
    wordings = (
        'Hand out the asset {tag} to {user}: assign it, set its state to "In use" and its warranty date to {until}.',
        '{user} gets the asset {tag}. Its state becomes "In use", and its warranty lasts until {until}.',
        'Update the asset {tag}: state "In use", assigned to {user}, warranty until {until}.',
    )

    def oracle(self, b: Bound) -> Oracle:
        yield from open_asset(b.tag)
        yield from choose('combobox "State:"', "In use")
        yield from choose('combobox "Assigned to:"', b.user)
        yield from fill('textbox "Warranty until:"', b.until)
        yield from click('button "Save"')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        user = start.value("SELECT id FROM auth_user WHERE username = ?", b.user)
        lent = Changed(
            "inventory_asset",
            b.asset_id,
            state="In use",
            assigned_to_id=user,
            warranty_until=b.until,
            mark="lent: the asset is handed out",
        )
        return Expected(effects=(lent,), marks=(visited("form: opened the asset", f"{ASSETS}\\d+/change/"),))

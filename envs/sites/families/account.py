"""A customer's own account: reviews, addresses, wish lists, past orders."""

from __future__ import annotations

import random
from typing import ClassVar

from rebind.envs.apps.families.answers import Answer
from rebind.envs.apps.families.draw import choice, integer, phrase
from rebind.envs.apps.families.effects import Added, Part, anything, says
from rebind.envs.sites.families.answers import Cents, Number, PageDay
from rebind.envs.sites.families.base import Bound, Drawn, Expected, Family, Grounded, SiteView, saw, visited
from rebind.envs.sites.families.draws import CUSTOMER, NO_PRODUCT, listed, lookup, queries, query
from rebind.envs.sites.families.flows import Oracle, choose, click, done, fill, form, open_product, reads

PRODUCT_ID = lookup("SELECT id FROM catalogue_product WHERE title = ?", "product")
WITH_STOCK = (
    "SELECT title FROM catalogue_product p JOIN partner_stockrecord s ON s.product_id = p.id WHERE s.num_in_stock > 5 "
    "ORDER BY title"
)


NOT_REVIEWED = query(
    "SELECT title FROM catalogue_product p JOIN partner_stockrecord s ON s.product_id = p.id WHERE s.num_in_stock > 5 "
    "AND NOT EXISTS (SELECT 1 FROM reviews_productreview r JOIN auth_user u ON u.id = r.user_id WHERE r.product_id = "
    "p.id AND u.username = 'ada.fischer') GROUP BY title HAVING count(*) = 1 ORDER BY title"
)
"""The title of a product that the customer who writes may still review."""


def ids_of(view: SiteView, titles: list[str]) -> list[int]:
    """The ids of products by their titles."""
    return [view.value("SELECT id FROM catalogue_product WHERE title = ?", title) for title in titles]


class WriteReview(Family):
    id = "sites/write-review"
    group = "5-10"
    account, start = "ada.fischer", "/shop/catalogue/"
    drawn = (
        Drawn("product", "entity", NOT_REVIEWED, central=True),
        Drawn("title", "parameter", choice("A fine piece | Second thoughts | Nice but small | Well packed | Too loud")),
        Drawn(
            "body",
            "parameter",
            phrase(
                "{a} {b}",
                a="It fits our hall. | I use it daily. | It was a gift. | We own two.",
                b="The finish is good. | One screw was missing. | I would choose another colour. | Delivery was quick.",
            ),
        ),
        Drawn("score", "parameter", integer(1, 5)),
    )
    grounded = (Grounded("product_id", "record", PRODUCT_ID),)
    absent: ClassVar = {"product": NO_PRODUCT}
    wordings = (
        'Write a review of the product "{product}": {score} stars, title "{title}", text "{body}".',
        'Please rate "{product}" with {score} out of 5 stars. The review\'s title is "{title}" and it says "{body}".',
        'Post a customer review titled "{title}" for "{product}". Rating: {score} stars. Body: "{body}".',
    )

    def oracle(self, b: Bound) -> Oracle:
        yield from open_product(b.product)
        yield from click('link "Write a review" #1')
        yield from form(Title=b.title, Body=b.body)
        yield from click(f"clickable \"' / '\" #{b.score}")  # stars have no names of their own
        yield from click('button "Save review"')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        review = Added(
            "reviews_productreview",
            product_id=b.product_id,
            title=says(b.title),
            body=says(b.body),
            score=b.score,
            user_id=anything,
            mark="written: the review is there",
        )
        return Expected(effects=(review,), marks=(saw("found: found the product", f"# {b.product}"),))


class OrderQuestion(Family):
    id = "sites/past-order-question"
    group = "<5"
    start = "/shop/accounts/"
    drawn = (
        Drawn("account", "user", CUSTOMER),
        Drawn(
            "number",
            "record",
            query(
                "SELECT number FROM order_order o JOIN auth_user u ON u.id = o.user_id WHERE username = ? ORDER BY "
                "number",
                "account",
            ),
            central=True,
            needs=("account",),
        ),
        Drawn("what", "parameter", choice("the total | the number of items | the date of submission")),
    )
    grounded = (Grounded("order_id", "record", lookup("SELECT id FROM order_order WHERE number = ?", "number")),)
    absent: ClassVar = {"number": lambda _view, rng, _bound: str(rng.randrange(200_000, 300_000))}
    wordings = (
        "For my order {number}, tell me {what}.",
        "Please look up {what} of order {number} in my order history.",
        "I need {what} of my past order no. {number}.",
    )

    def oracle(self, b: Bound) -> Oracle:
        page = yield from click('link "Order History"')
        row = reads(rf'row: [^\n]*link "{b.number}"[^|]*\| ([^\n]*)$', page, f"no order {b.number}")
        items, total, placed = row.split(" | ")
        yield from done({"the total": total, "the number of items": items}.get(b.what, placed))

    def expect(self, start: SiteView, b: Bound) -> Expected:
        order = start.row("SELECT * FROM order_order WHERE id = ?", b.order_id)
        if b.what == "the total":
            answer: Answer = Cents(round(order["total_incl_tax"] * 100))
        elif b.what == "the number of items":
            answer = Number(start.value("SELECT sum(quantity) FROM order_line WHERE order_id = ?", b.order_id))
        else:
            answer = PageDay(str(order["date_placed"])[:10])
        return Expected(answer=answer, marks=(visited("history: opened the order history", "/shop/accounts/orders/"),))


def _postcode(_view: SiteView, rng: random.Random, bound: Bound) -> str:
    return str(rng.randrange(1000, 9900) if bound.country == "Norway" else rng.randrange(10_000, 99_000))


class AddAddress(Family):
    id = "sites/add-address"
    group = "5-10"
    account, start = "ben.osei", "/shop/accounts/"
    drawn = (
        Drawn("first", "parameter", choice("Ann | Carl | Dora | Ewan | Freya | Ivan | Kim | Lea")),
        Drawn("last", "parameter", choice("Abel | Brandt | Costa | Doyle | Evans | Frost | Grant | Hale")),
        Drawn(
            "street", "location", phrase("{n} {s}", n="3 | 12 | 27 | 48 | 71", s="Quay Road | Elm Street | Top Lane")
        ),
        Drawn("city", "location", choice("Oakton | Westhaven | Brookfield | Marlow | Stenby"), central=True),
        Drawn("country", "location", choice("United States | Norway")),
        Drawn("postcode", "parameter", _postcode, needs=("country",)),
    )
    wordings = (
        "Add a new address to my address book: {first} {last}, {street}, {city}, postcode {postcode}, {country}.",
        "My address book needs another entry: {first} {last}, living at {street} in {city}, zip code "
        "{postcode}, {country}.",
        "Please save this delivery address for me. Name: {first} {last}; first line: {street}; city: {city}; postcode: "
        "{postcode}; country: {country}.",
    )

    def oracle(self, b: Bound) -> Oracle:
        yield from click('link "Address Book"', 'link "Add a new address"')
        yield from form(First_name=b.first, Last_name=b.last, First_line_of_address=b.street, City=b.city)
        yield from fill('textbox "Post/Zip-code"', b.postcode)
        yield from choose('combobox "Country"', b.country)
        yield from click('button "Save"')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        address = Added(
            "address_useraddress",
            first_name=says(b.first),
            last_name=says(b.last),
            line1=says(b.street),
            line4=says(b.city),
            postcode=b.postcode,
            country_id={"Norway": "NO"}.get(b.country, "US"),
            mark="added: the address is in the book",
        )
        return Expected(effects=(address,), marks=(visited("form: opened the form", "/shop/accounts/addresses/add/"),))


class FillWishList(Family):
    id = "sites/fill-wish-list"
    group = "21-35"
    account, start = "cora.silva", "/shop/accounts/"
    drawn = (
        Drawn("name", "parameter", choice("Birthday | New flat | Garden party | Winter | Wedding")),
        Drawn("products", "entity", queries(4, WITH_STOCK), central=True, show=listed),
        Drawn("sharing", "parameter", choice("Private | Shared | Public")),
    )
    grounded = (Grounded("product_ids", "record", lambda v, b: ids_of(v, b.products)),)
    wordings = (
        'Create a wish list named "{name}" with the visibility {sharing}, and put these products on it: {products}.',
        'I want a new {sharing} wish list called "{name}" that has {products} on it.',
        'Please make the wish list "{name}" (visibility: {sharing}) and add {products} to it.',
    )

    def oracle(self, b: Bound) -> Oracle:
        page = yield from click('link "Wish Lists"', 'link "Create a new wish list"')
        yield from fill('textbox "Name"', b.name)
        option = reads(rf'"({b.sharing} - [^"]*)"', page)
        if b.sharing == "Shared":  # its text is cut in the view
            option = "Shared - Only the owner and people with access to the obfuscated link can see the wish list"
        yield from choose('combobox "Visibility"', option)
        yield from click('button "Save"')
        for title in b.products:
            yield from open_product(title)
            yield from click('link "Add to wish list"', f"link \"Add to '{b.name}' wish list\"")
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        lines = tuple(Part("wishlists_line", "wishlist_id", product_id=one) for one in b.product_ids)
        made = Added(
            "wishlists_wishlist",
            name=says(b.name),
            visibility=b.sharing,
            parts=lines,
            mark="made: the list is complete",
        )
        return Expected(
            effects=(made,),
            marks=(
                saw("last: found the last product", f"# {b.products[-1]}"),
                saw("list: made the list", "Your wishlist has been created"),
            ),
        )

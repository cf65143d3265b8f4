-- One episode's whole world. The supervisor is person 1; every other row belongs to that person's accounts.
-- Ids are text, prefix + number ("con_4711"), drawn by the generator so that they differ between world seeds.
-- Dates are ISO 8601 ("2026-03-14"), times "2026-03-14T09:30", money integer cents.

CREATE TABLE accounts (app TEXT PRIMARY KEY, username TEXT NOT NULL, token TEXT NOT NULL, token_issued INTEGER NOT NULL DEFAULT 0);
CREATE TABLE profile (key TEXT PRIMARY KEY, value TEXT NOT NULL);      -- name, email, phone, address, city, today (the world's date)

CREATE TABLE contacts (
  id TEXT PRIMARY KEY, first_name TEXT NOT NULL, last_name TEXT NOT NULL, email TEXT NOT NULL, phone TEXT NOT NULL,
  company TEXT NOT NULL, job_title TEXT NOT NULL, relation TEXT NOT NULL,  -- family, friend, colleague, manager, client, vendor, neighbour
  street TEXT NOT NULL, city TEXT NOT NULL, previous_street TEXT, previous_city TEXT,
  birthday TEXT NOT NULL, favourite INTEGER NOT NULL DEFAULT 0, comment TEXT NOT NULL DEFAULT '');
CREATE TABLE contact_groups (id TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE contact_group_members (group_id TEXT NOT NULL REFERENCES contact_groups(id), contact_id TEXT NOT NULL REFERENCES contacts(id), PRIMARY KEY (group_id, contact_id));

CREATE TABLE mails (
  id TEXT PRIMARY KEY, folder TEXT NOT NULL,                             -- inbox, sent, drafts, archive, trash
  sender TEXT NOT NULL, recipients TEXT NOT NULL,                        -- addresses, recipients joined by ", "
  subject TEXT NOT NULL, body TEXT NOT NULL, sent_at TEXT NOT NULL,
  read INTEGER NOT NULL DEFAULT 0, starred INTEGER NOT NULL DEFAULT 0, reply_to TEXT, forwarded_from TEXT);
CREATE TABLE mail_labels (mail_id TEXT NOT NULL REFERENCES mails(id), label TEXT NOT NULL, PRIMARY KEY (mail_id, label));
CREATE TABLE mail_attachments (mail_id TEXT NOT NULL REFERENCES mails(id), file_id TEXT NOT NULL REFERENCES files(id), PRIMARY KEY (mail_id, file_id));

CREATE TABLE events (
  id TEXT PRIMARY KEY, title TEXT NOT NULL, start_at TEXT NOT NULL, end_at TEXT NOT NULL, location TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '', calendar TEXT NOT NULL,          -- work, home, family
  reminder_minutes INTEGER, cancelled INTEGER NOT NULL DEFAULT 0);
CREATE TABLE event_attendees (event_id TEXT NOT NULL REFERENCES events(id), email TEXT NOT NULL, status TEXT NOT NULL, PRIMARY KEY (event_id, email)); -- invited, accepted, declined

CREATE TABLE notes (
  id TEXT PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, notebook TEXT NOT NULL, created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL, pinned INTEGER NOT NULL DEFAULT 0, archived INTEGER NOT NULL DEFAULT 0);
CREATE TABLE note_tags (note_id TEXT NOT NULL REFERENCES notes(id), tag TEXT NOT NULL, PRIMARY KEY (note_id, tag));

CREATE TABLE files (
  id TEXT PRIMARY KEY, path TEXT NOT NULL UNIQUE,                        -- "/reports/2026/q1-budget.txt"
  content TEXT NOT NULL, size INTEGER NOT NULL, modified_at TEXT NOT NULL, shared_with TEXT NOT NULL DEFAULT '');

CREATE TABLE chats (id TEXT PRIMARY KEY, title TEXT NOT NULL, kind TEXT NOT NULL, muted INTEGER NOT NULL DEFAULT 0); -- direct, group
CREATE TABLE chat_members (chat_id TEXT NOT NULL REFERENCES chats(id), contact_id TEXT NOT NULL REFERENCES contacts(id), PRIMARY KEY (chat_id, contact_id));
CREATE TABLE chat_messages (
  id TEXT PRIMARY KEY, chat_id TEXT NOT NULL REFERENCES chats(id), sender TEXT NOT NULL,   -- "me" or a contact id
  body TEXT NOT NULL, sent_at TEXT NOT NULL, read INTEGER NOT NULL DEFAULT 1, reaction TEXT);

CREATE TABLE bank_accounts (id TEXT PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, balance INTEGER NOT NULL); -- checking, savings, joint
CREATE TABLE payees (id TEXT PRIMARY KEY, name TEXT NOT NULL, iban TEXT NOT NULL, contact_id TEXT REFERENCES contacts(id));
CREATE TABLE transactions (
  id TEXT PRIMARY KEY, account_id TEXT NOT NULL REFERENCES bank_accounts(id), amount INTEGER NOT NULL,   -- negative: money out
  counterparty TEXT NOT NULL, reference TEXT NOT NULL, booked_on TEXT NOT NULL, category TEXT NOT NULL);
CREATE TABLE standing_orders (
  id TEXT PRIMARY KEY, account_id TEXT NOT NULL REFERENCES bank_accounts(id), payee_id TEXT NOT NULL REFERENCES payees(id),
  amount INTEGER NOT NULL, day_of_month INTEGER NOT NULL, reference TEXT NOT NULL, active INTEGER NOT NULL DEFAULT 1);
CREATE TABLE payment_requests (
  id TEXT PRIMARY KEY, contact_id TEXT NOT NULL REFERENCES contacts(id), amount INTEGER NOT NULL, reason TEXT NOT NULL,
  direction TEXT NOT NULL, status TEXT NOT NULL, created_on TEXT NOT NULL);   -- incoming|outgoing; open, paid, declined, cancelled

CREATE TABLE products (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, category TEXT NOT NULL, brand TEXT NOT NULL, price INTEGER NOT NULL,
  stock INTEGER NOT NULL, rating REAL NOT NULL, description TEXT NOT NULL);
CREATE TABLE cart_items (product_id TEXT PRIMARY KEY REFERENCES products(id), quantity INTEGER NOT NULL);
CREATE TABLE addresses (id TEXT PRIMARY KEY, label TEXT NOT NULL, street TEXT NOT NULL, city TEXT NOT NULL, is_default INTEGER NOT NULL DEFAULT 0);
CREATE TABLE orders (
  id TEXT PRIMARY KEY, placed_on TEXT NOT NULL, status TEXT NOT NULL,     -- placed, shipped, delivered, cancelled, return-requested
  address_id TEXT NOT NULL REFERENCES addresses(id), total INTEGER NOT NULL, coupon TEXT, gift_note TEXT);
CREATE TABLE order_items (order_id TEXT NOT NULL REFERENCES orders(id), product_id TEXT NOT NULL REFERENCES products(id), quantity INTEGER NOT NULL, unit_price INTEGER NOT NULL, PRIMARY KEY (order_id, product_id));
CREATE TABLE coupons (code TEXT PRIMARY KEY, percent INTEGER NOT NULL, category TEXT, min_total INTEGER NOT NULL, expires_on TEXT NOT NULL);
CREATE TABLE reviews (id TEXT PRIMARY KEY, product_id TEXT NOT NULL REFERENCES products(id), author TEXT NOT NULL, stars INTEGER NOT NULL, body TEXT NOT NULL, written_on TEXT NOT NULL);
CREATE TABLE wishlist (product_id TEXT PRIMARY KEY REFERENCES products(id), added_on TEXT NOT NULL);

CREATE TABLE todo_lists (id TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE todos (
  id TEXT PRIMARY KEY, list_id TEXT NOT NULL REFERENCES todo_lists(id), title TEXT NOT NULL, due_on TEXT,
  priority TEXT NOT NULL DEFAULT 'normal', done INTEGER NOT NULL DEFAULT 0, assignee TEXT, comment TEXT NOT NULL DEFAULT ''); -- low, normal, high; assignee: contact id

CREATE TABLE songs (id TEXT PRIMARY KEY, title TEXT NOT NULL, artist TEXT NOT NULL, album TEXT NOT NULL, genre TEXT NOT NULL, year INTEGER NOT NULL, seconds INTEGER NOT NULL, plays INTEGER NOT NULL, liked INTEGER NOT NULL DEFAULT 0);
CREATE TABLE playlists (id TEXT PRIMARY KEY, name TEXT NOT NULL, public INTEGER NOT NULL DEFAULT 0);
CREATE TABLE playlist_songs (playlist_id TEXT NOT NULL REFERENCES playlists(id), song_id TEXT NOT NULL REFERENCES songs(id), position INTEGER NOT NULL, PRIMARY KEY (playlist_id, song_id));

-- What the agent declared: one row once it called supervisor_complete_task.
CREATE TABLE completion (id INTEGER PRIMARY KEY CHECK (id = 1), status TEXT NOT NULL, answer TEXT);

-- Never shown to the agent and left out of state differences: the world's seed, how many ids of each prefix were issued.
CREATE TABLE internals (key TEXT PRIMARY KEY, value INTEGER NOT NULL);

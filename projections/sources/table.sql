create table sources (
  id uuid primary key,
  organization_id uuid not null,
  collection_id uuid not null,
  kind text not null,
  url text not null,
  -- patterns of paths (JSON)
  include text not null,
  exclude text not null,
  max_pages integer not null,
  when_gone text not null,
  -- the rule of its schedule (JSON); null: none
  rule text,
  next_at timestamptz,
  paused boolean not null,
  -- the number of its last read, and whether that is under way
  read integer not null,
  reading boolean not null,
  -- pages that the last read visits; null until they are known
  listed integer,
  started_at timestamptz not null,
  ended_at timestamptz,
  error text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index sources_by_collection on sources (collection_id, created_at, id);

-- The pages of each source, with what the last read of each found out.
create table source_pages (
  source_id uuid not null,
  page text not null,
  organization_id uuid not null,
  url text,
  document_id uuid,
  content_claim text,
  etag text,
  last_modified text,
  result text not null,
  error text,
  -- the read that visited it last
  read integer not null,
  checked_at timestamptz not null,
  -- when its content was last new
  changed_at timestamptz,
  primary key (source_id, page)
);

-- A document is put once and patched while it is worked on: room in the page keeps those updates off the indexes.
create table documents (
  id uuid primary key,
  organization_id uuid not null,
  collection_id uuid not null,
  name text not null,
  mime_type text not null,
  size_bytes bigint not null,
  status text not null,
  error text,
  tags text not null,
  source text not null,
  -- what was sent: a file, or text that was pushed
  original text not null,
  blob text not null,
  external_id text,
  -- the one that search sees
  live_generation integer,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  indexed_at timestamptz
) with (fillfactor = 70);
create index documents_by_collection on documents (collection_id, created_at, id);
-- what the summaries count, and lists of a status
create index documents_by_status on documents (collection_id, status, created_at, id) include (size_bytes);

-- What reading came to, by generation.
create table readings (
  document_id uuid not null,
  generation integer not null,
  text_blob text not null,
  passages_blob text not null,
  page_count integer,
  chunk_count integer not null,
  primary key (document_id, generation)
);

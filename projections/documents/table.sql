-- A document is inserted once and updated while it is processed. Free space in the pages allows updates without index writes.
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
  -- keys and values of the caller's own (JSON); null if none
  metadata text,
  -- who may read it (JSON); null: everybody who may read its collection
  readers text,
  source text not null,
  -- an uploaded file, or pushed text
  original text not null,
  blob text not null,
  external_id text,
  -- the generation that search shows
  live_generation integer,
  -- the space and the generation of its vectors, once all of them are stored; null if none
  vector_space text,
  vector_generation integer,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  indexed_at timestamptz
) with (fillfactor = 70);
create index documents_by_collection on documents (collection_id, created_at, id);
-- for the summaries, and for lists of one status
create index documents_by_status on documents (collection_id, status, created_at, id) include (size_bytes);

-- Results of reading, by generation.
create table readings (
  document_id uuid not null,
  generation integer not null,
  text_blob text not null,
  passages_blob text not null,
  page_count integer,
  chunk_count integer not null,
  -- what the reader left out (JSON); null if nothing
  warnings text,
  primary key (document_id, generation)
);

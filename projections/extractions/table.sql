create table extractions (
  id uuid primary key,
  organization_id uuid not null,
  name text not null,
  mime_type text not null,
  size_bytes bigint not null,
  status text not null,
  error text,
  text_blob text,
  page_count integer,
  chunk_count integer,
  -- what the reader left out (JSON); null if nothing
  warnings text,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index extractions_by_organization on extractions (organization_id, created_at, id);

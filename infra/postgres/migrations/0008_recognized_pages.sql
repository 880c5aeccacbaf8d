-- Up Migration

-- Pages whose text was recognized in pictures (OCR), on the last day on which an organization had any (UTC).
create table ops.recognized_pages (
  organization_id uuid primary key,
  day date not null,
  pages integer not null,
  -- what the last request got
  granted integer not null
);

select ops.protect_table('ops.recognized_pages');

-- Down Migration

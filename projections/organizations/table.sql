create table organizations (
  id uuid primary key,
  name text not null,
  created_at timestamptz not null
);

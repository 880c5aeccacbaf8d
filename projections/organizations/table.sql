create table organizations (
  id uuid primary key,
  name text not null,
  scripted_tools boolean not null,
  -- of text recognition (JSON), the most frequent first; null: those of the deployment
  ocr_languages text,
  created_at timestamptz not null
);

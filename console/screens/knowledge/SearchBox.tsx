import { Checkbox } from "../../parts/Form.tsx";
import { formText } from "../../parts/formText.ts";
import { useCheckedForm } from "../../parts/useCheckedForm.tsx";
import { Results } from "./Results.tsx";
import { isFiltered, type KnowledgeSearch } from "./search.ts";

const FIELDS = [
  { name: "types", label: "File types", hint: "pdf, docx, eml", type: "text" },
  { name: "tags", label: "Tags, all of them", hint: "hr, 2026", type: "text" },
  { name: "from", label: "Added from", hint: undefined, type: "date" },
  { name: "to", label: "Added until", hint: undefined, type: "date" },
  { name: "metadata", label: "Own metadata", hint: "kind = lease, year >= 2024", type: "text" },
] as const;

function readForm(form: FormData): KnowledgeSearch {
  const read = (name: string) => formText(form, name).trim() || undefined;
  return {
    q: read("q"),
    ...Object.fromEntries(FIELDS.map(({ name }) => [name, read(name)])),
    grouped: form.has("grouped") || undefined,
  };
}

const Fields = ({ search }: { search: KnowledgeSearch }) => (
  <details className="search-filters" open={isFiltered(search) || search.grouped}>
    <summary>Filters, phrases and words to leave out</summary>
    <div className="side-by-side">
      {FIELDS.map(({ name, label, hint, type }) => (
        <label key={name}>
          {label}
          <input name={name} type={type} defaultValue={search[name]} placeholder={hint} maxLength={2000} />
        </label>
      ))}
    </div>
    <Checkbox name="grouped" label="Each document once, with its best passage" isChecked={search.grouped ?? false} />
    <p className="quiet">
      <code>"notice period"</code> finds the words next to each other. <code>-draft</code> and{" "}
      <code>-"first draft"</code> leave out passages that have them. Of your own metadata, several values of one key are
      alternatives: <code>kind = lease, kind = sale</code>. A text that looks like a number has quotes:{" "}
      <code>year = "2024"</code>.
    </p>
  </details>
);

interface Props {
  search: KnowledgeSearch;
  /** Slug; undefined for all collections. */
  collection?: string;
  onSearch(search: KnowledgeSearch): void;
}

/** Searches only when the form is sent, because a search costs more than a list. */
export function SearchBox({ search, collection, onSearch }: Props) {
  const { props, notice } = useCheckedForm({ error: null, onSend: (form) => onSearch(readForm(form)) });
  return (
    <>
      <search>
        {/* the fields show the address, also after going back */}
        <form key={JSON.stringify(search)} {...props} className="stack">
          <div className="search-line">
            <label>
              <span className="hidden-text">Search the documents</span>
              <input
                name="q"
                type="search"
                defaultValue={search.q}
                placeholder="Search the documents"
                required={isFiltered(search)}
                data-filter
              />
            </label>
            <button type="submit" className="button primary">
              Search
            </button>
            {search.q && (
              <button type="button" className="button" onClick={() => onSearch({})}>
                Clear
              </button>
            )}
            {notice}
          </div>
          <Fields search={search} />
        </form>
      </search>
      {search.q && <Results search={search} collection={collection} onSearch={onSearch} />}
    </>
  );
}

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../../api/call.ts";
import { searchPassages } from "../../api/knowledgeSearch.ts";
import { Checkbox } from "../../parts/Form.tsx";
import { formText } from "../../parts/formText.ts";
import { useCheckedForm } from "../../parts/useCheckedForm.tsx";
import { Results } from "./Results.tsx";
import { findWrongFilter, isFiltered, toPassageSearch, type KnowledgeSearch } from "./search.ts";

/** `param`: the parameter of the request that the field makes. */
const FIELDS = [
  { name: "types", label: "File types", hint: "pdf, docx, eml", type: "text", param: "types" },
  { name: "tags", label: "Tags, all of them", hint: "hr, 2026", type: "text", param: "tags" },
  { name: "from", label: "Added from", hint: undefined, type: "date", param: "created_after" },
  { name: "to", label: "Added until", hint: undefined, type: "date", param: "created_before" },
  { name: "metadata", label: "Own metadata", hint: "kind = lease, year >= 2024", type: "text", param: "metadata" },
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
      {FIELDS.map(({ name, label, hint, type, param }) => (
        <label key={name} data-params={param}>
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

interface FormProps extends Pick<Props, "search" | "onSearch"> {
  /** Why the service refuses a field of the address; null if it does not. */
  refusal: Error | null;
}

/** The fields show the address, also after going back. A wrong filter is not sent. */
function SearchForm({ search, refusal, onSearch }: FormProps) {
  const [problem, setProblem] = useState(() => findWrongFilter(search));
  const onSend = (form: FormData) => {
    const entered = readForm(form);
    const found = findWrongFilter(entered);
    setProblem(found);
    if (!found) onSearch(entered);
  };
  const { props, notice } = useCheckedForm({ error: problem ?? refusal, onSend });
  return (
    <form {...props} className="stack">
      <div className="search-line">
        <label data-params="query">
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
  );
}

/** Whether the service refuses a field. The same search is refused again, so it is not repeated. */
const isOfField = (error: unknown): boolean => error instanceof ApiError && error.param !== undefined;

/** Searches only when the form is sent, because a search costs more than a list. */
export function SearchBox({ search, collection, onSearch }: Props) {
  const isWrong = findWrongFilter(search) !== null;
  const request = toPassageSearch(isWrong ? {} : search, collection);
  const found = useQuery({
    ...searchPassages(request),
    enabled: ({ state }) => search.q !== undefined && !isWrong && !isOfField(state.error),
  });
  const refusal = isOfField(found.error) ? found.error : null;
  return (
    <>
      <search>
        <SearchForm key={JSON.stringify(search)} search={search} refusal={refusal} onSearch={onSearch} />
      </search>
      {search.q && !isWrong && !refusal && <Results search={search} found={found} onSearch={onSearch} />}
    </>
  );
}

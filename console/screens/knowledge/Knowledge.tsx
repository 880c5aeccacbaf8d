import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { createCollection, listCollections, type Collection } from "../../api/knowledge.ts";
import { useRole } from "../../api/useRole.ts";
import { formatBytes, formatCount } from "../../format/index.ts";
import { formText } from "../../parts/formText.ts";
import { EmptyState, QueryResult } from "../../parts/Notices.tsx";
import { Time } from "../../parts/Time.tsx";
import { useCheckedForm } from "../../parts/useCheckedForm.tsx";
import { useUnsavedWarning } from "../../parts/useLeaveConfirmation.ts";
import { useLocationKey } from "../../parts/useLocationKey.ts";
import { SearchBox } from "./SearchBox.tsx";
import "./knowledge.css";
import { FocusableButton } from "../../parts/FocusableButton.tsx";

const route = getRouteApi("/knowledge");

function NewCollection() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const where = useLocationKey();
  const unsaved = useUnsavedWarning();
  const create = useMutation({
    mutationFn: createCollection,
    onMutate: () => {
      unsaved.set(false);
      return where();
    },
    onError: () => unsaved.set(true),
    onSuccess: ({ slug }, _name, began) => {
      void queries.invalidateQueries({ queryKey: ["collection"] });
      if (where() === began) void navigate({ to: "/knowledge/$collection", params: { collection: slug } });
    },
  });
  const { props, notice } = useCheckedForm({
    error: create.error,
    onSend: (form) => create.mutate(formText(form, "name")),
  });
  return (
    <>
      <form {...props} className="search-line">
        <label>
          <span className="hidden-text">Name of a new collection</span>
          <input
            name="name"
            required
            maxLength={120}
            placeholder="Name of a new collection"
            onInput={({ currentTarget }) => unsaved.set(currentTarget.value !== "")}
          />
        </label>
        <FocusableButton type="submit" className="button" isOff={create.isPending}>
          Create collection
        </FocusableButton>
        {notice}
      </form>
    </>
  );
}

const Item = ({ collection: { slug, name, description, documents, updated_at } }: { collection: Collection }) => (
  <li>
    <Link className="card row" to="/knowledge/$collection" params={{ collection: slug }} data-row>
      <span className="row-title">{name}</span>
      <span>{formatCount(documents.total, "document")}</span>
      <span className="quiet">
        {description && `${description} · `}
        {documents.pending > 0 && `${documents.pending} being read · `}
        {documents.failed > 0 && `${documents.failed} failed · `}
        {formatBytes(documents.bytes)} · changed <Time at={updated_at} />
      </span>
    </Link>
  </li>
);

const NoCollections = ({ mayWrite }: { mayWrite: boolean }) => (
  <EmptyState title="There are no collections yet">
    {mayWrite ? (
      <ol>
        <li>Create a collection, such as “Handbook”.</li>
        <li>Drop files into it: PDF, Word, PowerPoint, Excel, HTML, Markdown, e-mail and more.</li>
        <li>Search them here, or let a model search them: its answers then cite the passages.</li>
      </ol>
    ) : (
      <p>Once somebody has made one, you can read and search its documents here.</p>
    )}
  </EmptyState>
);

/** The organization's collections, and a search across all of them. */
export function Knowledge() {
  const search = route.useSearch();
  const navigate = useNavigate();
  const { mayWrite } = useRole();
  const collections = useQuery(listCollections);
  return (
    <section className="screen narrow" aria-labelledby="title">
      <h1 id="title">Knowledge</h1>
      <SearchBox search={search} onSearch={(next) => void navigate({ to: "/knowledge", search: next })} />
      {mayWrite && <NewCollection />}
      <QueryResult query={collections} what="collections">
        {({ data }) =>
          data.length === 0 ? (
            <NoCollections mayWrite={mayWrite} />
          ) : (
            <ul className="plain stack">
              {data.map((collection) => (
                <Item key={collection.id} collection={collection} />
              ))}
            </ul>
          )
        }
      </QueryResult>
    </section>
  );
}

import { Link } from "@tanstack/react-router";
import { deleteDocument, type DocumentInfo } from "../../api/knowledge.ts";
import { useRole } from "../../api/useRole.ts";
import { Dates } from "../../parts/Dates.tsx";
import { ThingActions } from "../../parts/ThingActions.tsx";
import { useLeaveAfter } from "../../parts/useLocationKey.ts";
import { DetailsForm } from "./DetailsForm.tsx";
import { ReadersForm } from "./ReadersForm.tsx";
import { nameOfReader, useReaders } from "./useReaders.ts";

function WhoReads({ document: { readers } }: { document: DocumentInfo }) {
  const groups = useReaders();
  if (!readers) return "everybody of the organization";
  if (readers.length === 0) return "nobody";
  return readers.map((reader) => nameOfReader(groups, reader)).join(", ");
}

const Facts = ({ document }: { document: DocumentInfo }) => {
  const { isAdmin } = useRole();
  const { id, tags, metadata = {}, external_id, created_at, updated_at } = document;
  return (
    <dl className="facts">
      <dt>Tags</dt>
      <dd>{tags.length > 0 ? tags.join(", ") : "none"}</dd>
      {Object.entries(metadata).map(([key, value]) => [
        <dt key={`${key} key`}>{key}</dt>,
        <dd key={`${key} value`}>{String(value)}</dd>,
      ])}
      <dt>May be read by</dt>
      <dd>
        <WhoReads document={document} />
      </dd>
      {external_id && (
        <>
          <dt>Your own id</dt>
          <dd className="mono">{external_id}</dd>
        </>
      )}
      <Dates id={id} created={created_at} changed={updated_at} began="Added" />
      {isAdmin && (
        <>
          <dt>See</dt>
          <dd>
            <Link to="/log" search={{ stream: `document-${id}` }}>
              its log
            </Link>
          </dd>
        </>
      )}
    </dl>
  );
};

function DeleteButton({ document: { id, name, collection_id } }: { document: DocumentInfo }) {
  const leaveAfter = useLeaveAfter();
  const remove = {
    label: "Delete the document",
    question: `Delete “${name}” for good? Answers that cite it lead nowhere afterwards.`,
    isDangerous: true,
    run: () =>
      leaveAfter(() => deleteDocument(id), {
        to: "/knowledge/$collection",
        params: { collection: collection_id },
        ignoreBlocker: true,
      }),
  };
  return <ThingActions actions={[remove]} kind="document" />;
}

/** The metadata of a document. Everybody who sees it may read the metadata, and most may change it. */
export function DocumentMetadata({ document }: { document: DocumentInfo }) {
  const { mayWrite, isAdmin } = useRole();
  return (
    <details className="card record">
      <summary>Details, readers and your own metadata</summary>
      <div className="stack">
        <Facts document={document} />
        {mayWrite && (
          <>
            <DetailsForm document={document} />
            <ReadersForm document={document} managesAll={isAdmin} />
            <DeleteButton document={document} />
          </>
        )}
      </div>
    </details>
  );
}

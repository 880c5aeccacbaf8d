import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { getDocument, getOriginal, listVersions, type DocumentInfo } from "../../api/knowledge.ts";
import { useRole } from "../../api/useRole.ts";
import { DocumentWarnings } from "../../parts/DocumentWarnings.tsx";
import { FileFacts } from "../../parts/FileFacts.tsx";
import { ReadingProgress } from "../../parts/ReadingProgress.tsx";
import { RetryReading } from "../../parts/RetryReading.tsx";
import { ReplaceFile } from "../../parts/ReplaceFile.tsx";
import { Status } from "../../parts/Status.tsx";
import { Tab, Tabs } from "../../parts/Tabs.tsx";
import { ThingScreen } from "../../parts/ThingScreen.tsx";
import { useMedia } from "../../parts/useMedia.ts";
import { canRenderOriginal, Original } from "./Original.tsx";
import { DocumentText, type Marks } from "./DocumentText.tsx";
import { DocumentMetadata } from "./DocumentMetadata.tsx";
import { Versions } from "./Versions.tsx";
import "./document.css";

const route = getRouteApi("/knowledge/documents/$documentId");

function Download({ document }: { document: DocumentInfo }) {
  const { data } = useQuery(getOriginal(document));
  if (!data) return null;
  return (
    <>
      <a href={data.address} download={data.isFile || `${document.name}.md`}>
        {data.isFile ? "Download the original" : "Download the text"}
      </a>
      {" · "}
    </>
  );
}

/** Wide enough for both side by side. On smaller screens the original is shown on request. */
const WIDE = "(min-width: 1000px)";

const Views = ({ document, isBoth }: { document: DocumentInfo; isBoth: boolean }) => (
  <Tabs
    label="View"
    names={["text", "both"] as const}
    current={isBoth ? "both" : "text"}
    title={(view) => (view === "both" ? "Text and original" : "Text")}
    tab={(view, rest) => (
      <Tab
        {...rest}
        to="/knowledge/documents/$documentId"
        params={{ documentId: document.id }}
        search={(before) => ({ ...before, view })}
      />
    )}
  />
);

/** The text, beside the original if the file can be rendered. */
function Shown({ document, marks }: { document: DocumentInfo; marks: Marks }) {
  const { view } = route.useSearch();
  const isWide = useMedia(WIDE);
  const { data: file } = useQuery(getOriginal(document));
  const canBeDrawn = file?.isFile === true && canRenderOriginal(document, marks);
  const isBoth = canBeDrawn && (view === undefined ? isWide : view === "both");
  return (
    <>
      {canBeDrawn && <Views document={document} isBoth={isBoth} />}
      <div className={isBoth ? "with-original" : "alone-text"}>
        {isBoth && <Original document={document} marks={marks} address={file.address} />}
        <div className="reading">
          <DocumentText key={[document.id, ...Object.values(marks)].join("/")} document={document} marks={marks} />
        </div>
      </div>
    </>
  );
}

/** The earlier version that the address names. Citations name the version even while it is the newest. */
function useEarlier(document: DocumentInfo): number | undefined {
  const { version } = route.useSearch();
  const { data } = useQuery({ ...listVersions(document.id), enabled: version !== undefined });
  const isNewest = data?.data.some((one) => one.version === version && one.current);
  return isNewest ? undefined : version;
}

/** Why there is no text, and the next step. */
function Unreadable({ document, error }: { document: DocumentInfo; error: string }) {
  const { mayWrite } = useRole();
  const navigate = useNavigate();
  return (
    <div className="notice bad">
      <p>
        <strong>It could not be read:</strong> {error}
      </p>
      {!mayWrite && <p>Whoever added it can put a mended file in its place.</p>}
      {mayWrite && document.status === "failed" && (
        <>
          <p>
            Mend the file and replace this one: its tags, metadata and readers stay. Or have this one read once more if
            the reason has gone.
          </p>
          <div className="buttons">
            <ReplaceFile
              document={document}
              onReplaced={(documentId) =>
                void navigate({ to: "/knowledge/documents/$documentId", params: { documentId }, replace: true })
              }
            />
            <RetryReading document={document} />
          </div>
        </>
      )}
    </div>
  );
}

function Details({ document }: { document: DocumentInfo }) {
  const { seq, page } = route.useSearch();
  const version = useEarlier(document);
  const { name, status, progress, error } = document;
  const hasText = status === "ready" || version !== undefined;
  return (
    <>
      <header className="title-line">
        <h1>{name}</h1>
        <Status status={status} />
      </header>
      <p className="quiet">
        <FileFacts file={document} /> · <Download document={document} />
        <Link to="/knowledge/$collection" params={{ collection: document.collection_id }}>
          Its collection
        </Link>
      </p>
      <DocumentMetadata document={document} />
      {hasText && <Versions document={document} shown={version} />}
      {error && <Unreadable document={document} error={error} />}
      {version === undefined && <DocumentWarnings warnings={document.warnings} />}
      {!hasText && !error && (
        <>
          <p className="notice warn" role="status">
            The document is being read. Its text appears here as soon as it is ready.
          </p>
          <ReadingProgress name={name} progress={progress} />
        </>
      )}
      {version !== undefined && (
        <p className="quiet">
          Version {version}, an earlier text of the document.{" "}
          <Link to="/knowledge/documents/$documentId" params={{ documentId: document.id }}>
            Show the newest text
          </Link>
        </p>
      )}
      {hasText && <Shown document={document} marks={{ seq, page, version }} />}
    </>
  );
}

/** A document's text, with the passage that a citation means. */
export function DocumentPage() {
  const { documentId } = route.useParams();
  const document = useQuery(getDocument(documentId));
  return (
    <ThingScreen back={<Link to="/knowledge">← Knowledge</Link>} query={document} kind="Document">
      {(data) => <Details key={data.id} document={data} />}
    </ThingScreen>
  );
}

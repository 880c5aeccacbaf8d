import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { deleteExtraction, getExtraction, type Extraction } from "../../api/extractions.ts";
import { useRole } from "../../api/useRole.ts";
import { DocumentWarnings } from "../../parts/DocumentWarnings.tsx";
import { FileFacts } from "../../parts/FileFacts.tsx";
import { ReadingProgress } from "../../parts/ReadingProgress.tsx";
import { saveFile } from "../../parts/saveFile.ts";
import { Status } from "../../parts/Status.tsx";
import { ThingActions } from "../../parts/ThingActions.tsx";
import { ThingScreen } from "../../parts/ThingScreen.tsx";
import { Time } from "../../parts/Time.tsx";
import { useRawText, FormattedText } from "../../parts/FormattedText.tsx";
import { useLeaveAfter } from "../../parts/useLocationKey.ts";

const route = getRouteApi("/extractions/$extractionId");

function Result({ name, markdown }: { name: string; markdown: string }) {
  const { isRaw, toggle } = useRawText();
  const save = () => saveFile(new Blob([markdown], { type: "text/markdown" }), `${name}.md`);
  return (
    <section className="card part" aria-labelledby="text">
      <div className="title-line">
        <h2 id="text">Text</h2>
        <button type="button" className="button small" onClick={save}>
          Save as Markdown
        </button>
        {toggle}
      </div>
      {markdown.trim() === "" ? (
        <p className="quiet">The file has no text.</p>
      ) : (
        <FormattedText text={markdown} isRaw={isRaw} />
      )}
    </section>
  );
}

function Details({ extraction }: { extraction: Extraction }) {
  const leaveAfter = useLeaveAfter();
  const { mayWrite } = useRole();
  const { id, name, status, progress, warnings, error, markdown } = extraction;
  const actions = [
    {
      label: "Delete",
      question: `Delete “${name}” and its text now?`,
      isDangerous: true,
      run: () => leaveAfter(() => deleteExtraction(id), { to: "/extractions" }),
    },
  ];
  return (
    <>
      <header className="title-line">
        <h1>{name}</h1>
        <Status status={status} />
      </header>
      <p className="quiet">
        <FileFacts file={extraction} /> · sent <Time at={extraction.created_at} />, deleted{" "}
        <Time at={extraction.expires_at} />
      </p>
      {mayWrite && <ThingActions actions={actions} kind="extraction" />}
      {error && (
        <div className="notice bad">
          <p>{error}</p>
          <p>
            Correct the file and <Link to="/extractions">send it again</Link>. A file that failed is read again even if
            it is unchanged.
          </p>
        </div>
      )}
      <DocumentWarnings warnings={warnings} />
      {markdown === undefined && !error && (
        <>
          <p className="notice warn" role="status">
            The file is being read. Its text appears here as soon as it is ready.
          </p>
          <ReadingProgress name={name} progress={progress} />
        </>
      )}
      {markdown !== undefined && <Result name={name} markdown={markdown} />}
    </>
  );
}

/** One file as Markdown, with the parts that could not be read. */
export function ExtractionPage() {
  const { extractionId } = route.useParams();
  const extraction = useQuery(getExtraction(extractionId));
  return (
    <ThingScreen back={<Link to="/extractions">← Extractions</Link>} query={extraction} kind="Extraction" narrow>
      {(data) => <Details key={data.id} extraction={data} />}
    </ThingScreen>
  );
}

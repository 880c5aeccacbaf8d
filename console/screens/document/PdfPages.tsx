import { useEffect, useRef, useState, type ComponentType } from "react";
import { formatNumber } from "../../format/index.ts";
import { FocusableButton } from "../../parts/FocusableButton.tsx";
import { Loading } from "../../parts/Notices.tsx";

/** Time limit per page, against files that never finish. */
const PATIENCE_MS = 30_000;
/** Ratio of width to height until the first page is rendered. */
const FIRST_RATIO = 0.7;

/** The messages of the frame (`console/pdf/main.ts`); `ratio`: width to height. */
type Answer = { pages: number; page: number; ratio: number } | { problem: string };

interface Props {
  id: string;
  name: string;
  /** The page to open. */
  first: number;
  notDrawn: ComponentType<{ why: string }>;
}

function Buttons({ page, pages, onTurn }: { page: number; pages: number; onTurn(page: number): void }) {
  return (
    <nav aria-label="Pages of the original" className="title-line">
      <FocusableButton type="button" className="button small" isOff={page <= 1} onClick={() => onTurn(page - 1)}>
        Previous page
      </FocusableButton>
      <span role="status">
        Page {formatNumber(page)} of {formatNumber(pages)}
      </span>
      <FocusableButton type="button" className="button small" isOff={page >= pages} onClick={() => onTurn(page + 1)}>
        Next page
      </FocusableButton>
    </nav>
  );
}

/** The pages of a PDF, rendered one at a time in a frame that runs no code of the file. */
export function PdfPages({ id, name, first, notDrawn: NotDrawn }: Props) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [wanted, setWanted] = useState(first);
  const [answer, setAnswer] = useState<Answer>();
  const isDrawn = answer !== undefined && "page" in answer;
  const waits = !isDrawn || answer.page !== wanted;
  useEffect(() => {
    const listen = ({ origin, source, data }: MessageEvent<Answer>) => {
      if (origin !== location.origin || source !== frame.current?.contentWindow) return;
      setAnswer(data);
      if ("page" in data) setWanted(data.page);
    };
    window.addEventListener("message", listen);
    return () => window.removeEventListener("message", listen);
  }, []);
  useEffect(() => {
    if (!waits) return;
    const timer = window.setTimeout(() => setAnswer({ problem: "Drawing it takes too long." }), PATIENCE_MS);
    return () => window.clearTimeout(timer);
  }, [waits, wanted]);
  const turn = (page: number) => {
    setWanted(page);
    frame.current?.contentWindow?.postMessage(page, location.origin);
  };
  if (answer && "problem" in answer) return <NotDrawn why={answer.problem} />;
  return (
    <>
      {isDrawn ? <Buttons page={wanted} pages={answer.pages} onTurn={turn} /> : <Loading what="the original" />}
      <iframe
        ref={frame}
        title={`Pages of ${name}`}
        src={new URL(`pdf/frame.html#${id}/${first}`, document.baseURI).href}
        sandbox="allow-scripts allow-same-origin"
        style={{ aspectRatio: isDrawn ? answer.ratio : FIRST_RATIO }}
      />
    </>
  );
}

import { useEffect, useRef, useState } from "react";
import type { Attachment } from "../../api/chat.ts";
import { formatBytes } from "../../format/index.ts";
import { Answer } from "./Answer.tsx";
import type { Turn } from "./turns.ts";
import "../../parts/attach.css";

/** Turns whose tools and sources are loaded without a request. */
const RECENT = 20;
/** A reader within this distance of the end, in pixels, is kept there while an answer grows. */
const NEAR_END = 160;

const Attachments = ({ attachments }: { attachments: Attachment[] }) =>
  attachments.length > 0 && (
    <ul className="plain files" aria-label="Attached files">
      {attachments.map(({ filename, bytes }, n) => (
        // one file may be attached twice
        <li key={n} className="file">
          {filename} <span className="quiet">{formatBytes(bytes)}</span>
        </li>
      ))}
    </ul>
  );

function useStayAtEnd(turns: Turn[], written: string | undefined): void {
  const count = useRef(0);
  useEffect(() => {
    const page = document.documentElement;
    const isNear = page.scrollHeight - window.innerHeight - window.scrollY < NEAR_END;
    if (turns.length !== count.current || isNear) window.scrollTo({ top: page.scrollHeight });
    count.current = turns.length;
  }, [turns.length, written]);
}

/** Announces the end of an answer to screen readers, which cannot read out each word of a stream. */
function Ending({ newest, isWritten }: { newest: Turn | undefined; isWritten: boolean }) {
  const [wasWritten, setWritten] = useState(isWritten);
  if (isWritten && !wasWritten) setWritten(true);
  const hasFailed = newest?.live !== undefined || !newest?.answer?.text;
  return (
    <p className="hidden-text" role="status">
      {wasWritten && !isWritten && (hasFailed ? "The answer has ended." : "The answer is complete.")}
    </p>
  );
}

interface Props {
  /** The identity of the conversation; another one starts without the previous announcements. */
  place: string;
  turns: Turn[];
  /** Whether the newest turn is running according to the service. */
  isRunning: boolean;
  onAgain: ((text: string) => void) | undefined;
  /** The target of a fork; undefined if no fork is possible. */
  forkWith: string | undefined;
}

/** Questions and answers, oldest first. */
export function Conversation({ place, turns, isRunning, onAgain, forkWith }: Props) {
  const newest = turns.at(-1);
  useStayAtEnd(turns, newest?.live?.answer.text);
  const isLive = newest?.live !== undefined && newest.live.failure === undefined;
  return (
    <>
      {/* before the list, because the element after the list contains the next question and keeps the focus */}
      <Ending key={place} newest={newest} isWritten={isLive || isRunning} />
      <ol className="plain conversation" aria-label="Conversation">
        {turns.map((turn, n) => (
          <li key={turn.id ?? (turn.answer ? n : "new")} className="turn">
            <div className="asked">
              <h2 className="hidden-text">Question</h2>
              <p className="body-text">{turn.text}</p>
              <Attachments attachments={turn.attachments} />
            </div>
            <Answer
              turn={turn}
              isRunning={isRunning && turn === newest && !turn.live}
              isRecent={turns.length - n <= RECENT}
              forkWith={forkWith}
              onAgain={turn === newest && onAgain && turn.text ? () => onAgain(turn.text) : undefined}
            />
          </li>
        ))}
      </ol>
    </>
  );
}

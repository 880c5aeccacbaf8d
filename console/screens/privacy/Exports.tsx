import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { exportSubject, type ExportProgress } from "../../api/privacy.ts";
import { formatBytes, formatCount } from "../../format/index.ts";
import { Form } from "../../parts/Form.tsx";
import { useLeaveConfirmation } from "../../parts/useLeaveConfirmation.ts";
import { saveFile } from "../../parts/saveFile.ts";
import { readSubject, SubjectField } from "./SubjectField.tsx";

const fileName = (subject: string): string => `export-${subject.replaceAll(/[^\w.@-]+/g, "-").slice(0, 100)}.jsonl`;

function useExport() {
  const [progress, setProgress] = useState<ExportProgress>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const send = useMutation({
    mutationFn: async (form: FormData) => {
      const subject = readSubject(form);
      running.current = new AbortController();
      setProgress({ bytes: 0, lines: 0 });
      const { signal } = running.current;
      const file = await exportSubject(subject, { signal, onProgress: setProgress }).catch((error: unknown) => {
        throw signal.aborted ? new Error("Stopped: no file was saved.") : error;
      });
      saveFile(file, fileName(subject));
    },
  });
  useLeaveConfirmation(() => send.isPending, "Leave the page? The export stops, and no file is saved.");
  return { send, progress, stop: () => running.current?.abort() };
}

/** Downloads all stored data of a subject. */
export function Exports({ chosen }: { chosen: string | undefined }) {
  const { send, progress, stop } = useExport();
  return (
    <>
      <p>
        Everything that is stored about a person, a key or an end user: account, conversations, files with their bytes,
        runs with what they saved, approvals, documents, extractions and events of the log. The file has one JSON object
        in each line, and is made while you download it; nothing of it stays on the server.
      </p>
      <Form submit="Export" send={send}>
        <SubjectField key={chosen} kinds={["person", "key", "user"]} chosen={chosen} />
      </Form>
      <div role="status">
        {progress && (
          <p className="title-line">
            {send.isPending && <progress aria-label="Export" />}
            <span>
              {send.isSuccess ? "The export is complete: " : ""}
              {formatBytes(progress.bytes)}, {formatCount(progress.lines, "line")}
            </span>
            {send.isPending && (
              <button type="button" className="button small" onClick={stop}>
                Stop
              </button>
            )}
          </p>
        )}
      </div>
    </>
  );
}

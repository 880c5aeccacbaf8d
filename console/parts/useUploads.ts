import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { UploadAnswer, Upload as Sending } from "../api/upload.ts";
import { useLeaveConfirmation } from "./useLeaveConfirmation.ts";

/** Browsers open at most six connections to a host; the rest stays free for the page. */
const AT_ONCE = 3;

export interface Upload {
  id: number;
  file: File;
  status: "waiting" | "sending" | "sent" | "failed";
  /** From 0 to 1. */
  sent: number;
  error?: unknown;
  /** An existing item with the same content, which the service returned. */
  existing?: string | undefined;
}

export interface UploadProps {
  /** Sends one file. */
  send(file: Sending): Promise<UploadAnswer<{ name: string }>>;
  /** The first word of the queries to invalidate. */
  kind: string;
}

const newState = () => ({
  next: 0,
  busy: 0,
  waiting: [] as Upload[],
  /** Ids. A second click at a file that is tried again must not send it twice. */
  failed: new Set<number>(),
  leaving: new AbortController(),
});

/** Uploads the chosen files, a few at a time. Leaving the screen asks first, and cancels unsent files. */
export function useUploads({ send: sendFile, kind }: UploadProps) {
  const queries = useQueryClient();
  const [uploads, setUploads] = useState<Upload[]>([]);
  const state = useRef(newState());
  useLeaveConfirmation(
    () => state.current.busy > 0,
    "Leave the page? The files that are still being sent are not kept.",
  );
  useEffect(() => {
    const current = state.current;
    current.leaving = new AbortController();
    return () => {
      current.waiting = [];
      current.leaving.abort();
    };
  }, []);

  const change = (id: number, part: Partial<Upload>) =>
    setUploads((all) => all.map((upload) => (upload.id === id ? { ...upload, ...part } : upload)));
  const send = async ({ id, file }: Upload) => {
    const { signal } = state.current.leaving;
    change(id, { status: "sending" });
    try {
      const { answer, isNew } = await sendFile({ file, signal, onProgress: (sent) => change(id, { sent }) });
      change(id, { status: "sent", sent: 1, existing: isNew ? undefined : answer.name });
    } catch (error) {
      state.current.failed.add(id);
      change(id, { status: "failed", error });
    }
    void queries.invalidateQueries({ queryKey: [kind] });
  };
  /** One of the senders, which continues while files wait. */
  const work = async () => {
    state.current.busy++;
    for (let upload = state.current.waiting.shift(); upload; upload = state.current.waiting.shift()) await send(upload);
    state.current.busy--;
  };
  const queue = (more: Upload[]) => {
    state.current.waiting.push(...more);
    const free = Math.min(more.length, AT_ONCE - state.current.busy);
    for (let n = 0; n < free; n++) void work();
  };
  return {
    uploads,
    add(files: Iterable<File>) {
      const more = Array.from(
        files,
        (file): Upload => ({ id: state.current.next++, file, status: "waiting", sent: 0 }),
      );
      setUploads((all) => [...all, ...more]);
      queue(more);
    },
    retry(upload: Upload) {
      if (!state.current.failed.delete(upload.id)) return;
      change(upload.id, { status: "waiting", sent: 0, error: undefined });
      queue([upload]);
    },
    clear: () => setUploads((all) => all.filter(({ status }) => status !== "sent")),
  };
}

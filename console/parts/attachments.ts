import type { Question } from "../api/answer.ts";

export type Files = Question["files"];

interface AttachmentState {
  files: Files;
  /** Files that are being uploaded. Each has its place already. */
  uploading: number;
  /** Names of chosen files that are not attached. */
  missing: string[];
  /** The reason; null if none is missing. */
  error: unknown;
}
const NOTHING: AttachmentState = { files: [], uploading: 0, missing: [], error: null };

/** The files of a text that is being written. A file gets its place before it is uploaded, because choices may overlap. */
export function createAttachments(max: number, upload: (file: File) => Promise<Files[number]>) {
  let state = NOTHING;
  const listeners = new Set<() => void>();
  function set(change: Partial<AttachmentState>): void {
    state = { ...state, ...change };
    for (const notify of listeners) notify();
  }
  return {
    read: (): AttachmentState => state,
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    /** Uploads each file by itself, so that a refused one takes no other with it. Then throws why not all are attached. */
    async add(chosen: File[]): Promise<void> {
      const fitting = chosen.slice(0, Math.max(0, max - state.files.length - state.uploading));
      // beside another choice, the failures of both are shown
      const before = state.uploading > 0 ? state : NOTHING;
      set({ uploading: state.uploading + fitting.length, missing: before.missing, error: before.error });
      const sent = await Promise.allSettled(fitting.map(upload));
      const stored = sent.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      const failed = chosen.filter((_, n) => sent[n]?.status !== "fulfilled").map(({ name }) => name);
      const uploading = state.uploading - fitting.length;
      set({ files: [...state.files, ...stored], uploading, missing: [...state.missing, ...failed] });
      if (failed.length === 0) return;
      const refused = sent.find((one) => one.status === "rejected");
      const error = refused ? refused.reason : new Error(`${max} files are attached at most.`);
      set({ error });
      throw error;
    },
    remove: (ids: string[]): void => set({ files: state.files.filter(({ id }) => !ids.includes(id)) }),
  };
}

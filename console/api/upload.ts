import { Failure } from "./call.ts";

export interface Upload {
  file: File;
  signal: AbortSignal;
  /** From 0 to 1. */
  onProgress(sent: number): void;
  /** What the form says besides. */
  fields?: Record<string, string>;
}

export interface UploadAnswer<T> {
  answer: T;
  /** False: the service had these bytes already. */
  isNew: boolean;
}

/** Sends one file to an address of `address()`. `fetch` cannot tell how much of a body has been sent. Throws a Failure. */
export const upload = <T>(to: URL, { file, signal, onProgress, fields = {} }: Upload): Promise<UploadAnswer<T>> =>
  new Promise((resolve, reject) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    form.set("file", file);
    const request = new XMLHttpRequest();
    request.open("POST", to);
    request.responseType = "json";
    request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0));
    request.addEventListener("load", () => {
      if (request.status < 300) resolve({ answer: request.response as T, isNew: request.status !== 200 });
      else reject(new Failure(request.status, request.response ?? {}, (name) => request.getResponseHeader(name)));
    });
    request.addEventListener("error", () => reject(new Failure(0, { error: { message: "The connection was lost." } })));
    signal.addEventListener("abort", () => request.abort());
    request.send(form);
  });

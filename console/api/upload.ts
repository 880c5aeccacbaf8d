import { ApiError } from "./call.ts";

export interface Upload {
  file: File;
  signal: AbortSignal;
  /** From 0 to 1. */
  onProgress(sent: number): void;
  /** Additional fields of the form. */
  fields?: Record<string, string>;
}

export interface UploadAnswer<T> {
  answer: T;
  /** False if the service already had these bytes. */
  isNew: boolean;
}

/** Sends one file to an address from `address()`. Does not use `fetch`, which reports no progress of an upload. Throws an ApiError. */
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
      else reject(new ApiError(request.status, request.response ?? {}, (name) => request.getResponseHeader(name)));
    });
    request.addEventListener("error", () =>
      reject(new ApiError(0, { error: { message: "The connection was lost." } })),
    );
    signal.addEventListener("abort", () => request.abort());
    request.send(form);
  });

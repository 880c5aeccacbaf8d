import type { ApiError } from "../../base/errors.ts";
import { errorBody } from "../../base/errors.ts";
import { toApiError } from "../../base/toApiError.ts";
import type { UploadAnswer } from "../existingDocument.ts";
import type { BatchResult } from "./batchShape.ts";

type Entry = BatchResult["data"][number];

/** How messages refer to an entry. */
interface EntryName {
  name: string;
  /** The entry's field in the request, such as `documents[3]`. */
  param: string;
}

/** Whether the service caused the error. Then the whole request is refused, and can be repeated with its key. */
const isOfService = ({ status }: ApiError): boolean => status >= 500 || status === 429;

function presentError(error: ApiError, { name, param }: EntryName): NonNullable<Entry["error"]> {
  const body = errorBody(error, true).error;
  const field = body.param === undefined || body.param === null ? param : `${param}.${body.param}`;
  return { ...body, message: `${name}: ${body.message}`, param: field };
}

/** The results of the entries of one request, in order. */
export function createResults() {
  const data: Entry[] = [];
  let complete = true;
  const fail = (entry: EntryName, error: ApiError): void => {
    if (isOfService(error)) throw error;
    data.push({ index: data.length, name: entry.name, result: "failed", error: presentError(error, entry) });
  };
  return {
    /** The number of the next entry. */
    next: () => data.length,
    fail,
    /** Stores an entry and records the result. Throws only errors that the service caused. */
    async add(entry: EntryName, store: () => Promise<UploadAnswer>): Promise<void> {
      try {
        const { status, document } = await store();
        const result = status === 202 ? "accepted" : "unchanged";
        data.push({ index: data.length, name: entry.name, result, id: document.id, status: document.status });
      } catch (error) {
        fail(entry, toApiError(error));
      }
    },
    /** Records that an entry failed and that the entries after it are not read. */
    stop(entry: EntryName, error: ApiError): void {
      fail(entry, error);
      complete = false;
    },
    done(): BatchResult {
      const count = (result: Entry["result"]): number => data.filter((one) => one.result === result).length;
      return { data, accepted: count("accepted"), unchanged: count("unchanged"), failed: count("failed"), complete };
    },
  };
}
export type Results = ReturnType<typeof createResults>;

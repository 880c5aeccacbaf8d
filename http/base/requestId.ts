import type { IncomingMessage } from "node:http";
import { newId } from "#events/ids.ts";

const WELL_FORMED = /^[A-Za-z0-9._:-]{1,128}$/;

/** The client's x-request-id if it is well-formed, else a new id. */
export function requestId(request: Pick<IncomingMessage, "headers">): string {
  const sent = request.headers["x-request-id"];
  return typeof sent === "string" && WELL_FORMED.test(sent) ? sent : newId();
}

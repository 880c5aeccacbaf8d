import type { FastifyRequest } from "fastify";
import type { ErrorCode } from "#events/errorCodes.ts";
import { ApiError } from "../base/errors.ts";
import { MAX_FILE_BYTES, MAX_FORM_OVERHEAD_BYTES } from "./multipartForm.ts";

const isForm = ({ headers }: FastifyRequest): boolean =>
  /^multipart\/form-data\s*(;|$)/i.test(headers["content-type"]?.trim() ?? "");

/** Options of a route that accepts a form. Other bodies are refused with `unreadableCode` before they are read. */
export const formRoute = (unreadableCode: ErrorCode, ...checks: ((request: FastifyRequest) => Promise<void>)[]) => ({
  bodyLimit: MAX_FILE_BYTES + MAX_FORM_OVERHEAD_BYTES,
  onRequest: [
    ...checks,
    async (request: FastifyRequest): Promise<void> => {
      if (!isForm(request)) throw new ApiError(unreadableCode, "The body must be multipart/form-data.");
    },
  ],
  // the form is not parsed when Fastify validates the body: its parts are checked as they arrive
  validatorCompiler: () => (value: unknown) => ({ value }),
});

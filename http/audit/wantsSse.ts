import type { FastifyRequest } from "fastify";

export const wantsSse = ({ headers }: FastifyRequest): boolean =>
  (headers.accept ?? "")
    .toLowerCase()
    .split(/[,;]/)
    .some((part) => part.trim() === "text/event-stream");

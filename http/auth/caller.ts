import type { Principal } from "#events/envelope.ts";
import type { SessionRow } from "#projections/sessions/query.ts";

/** Who sent a request, as its credential says. */
export interface Caller {
  organization_id: string;
  /** Scopes threads and files. */
  principal: Principal;
  /** Null: every model of the organization. */
  allowed_models: string[] | null;
  products: string[];
  /** A key of a project reaches that project's agents, and what has no project; null: all. */
  project_id: string | null;
  /** Present when a person signed in. */
  session: SessionRow | undefined;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Set on every route that asks for a credential. */
    caller: Caller;
  }
}

import type { LinkedKind } from "../linkedWorkflows.ts";
import type { Kind } from "../workflows.ts";

/* A client's knowledge of the things it created. */

/** Search finds a document by its word, which occurs nowhere else. */
export interface KnownDocument {
  id: string;
  word: string;
}

/** A person whom only this client manages. */
export interface KnownMember {
  id: string;
  email: string;
  /** Undefined until known: the platform shows it once. */
  password: string | undefined;
  active: boolean;
  /** Whether its removal was requested. */
  gone: boolean;
  /** Tokens of every session of this person. */
  tokens: string[];
}

/** A project that only this client manages. */
export interface KnownProject {
  id: string;
  /** Whether its deletion was requested. */
  gone: boolean;
}

/** A run of this client or its partner. */
export interface KnownRun {
  id: string;
  kind: Kind;
  /** The workflow whose hook started it. */
  hook: KnownWorkflow | undefined;
  asks: boolean;
}

/** A run that depends on others, of this client or its partner. */
export interface KnownLinkedRun {
  id: string;
  kind: LinkedKind;
}

/** A workflow of the load, with a trigger. */
export interface KnownWorkflow {
  kind: Kind;
  id: string;
  hook_token: string;
  webhook_secret: string;
}

/** An API key; its secret is shown once. */
export interface KnownKey {
  id: string;
  secret: string | undefined;
  project_id: string | undefined;
}

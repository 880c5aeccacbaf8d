import { z } from "zod";
import { Agent } from "../account/agentShape.ts";
import { Definition } from "../account/definitionShape.ts";
import { Key } from "../account/keyShape.ts";
import { Member } from "../account/memberShape.ts";
import { AgentResponse } from "../agents/responseShape.ts";
import { ResponseRequest } from "../agents/schema.ts";
import { AuditEvent } from "../audit/eventShape.ts";
import { TurnSummary } from "../audit/requestShape.ts";
import { Trace } from "../audit/traceShape.ts";
import { File } from "../chat/fileShape.ts";
import { Completion, CompletionRequest } from "../chat/schema.ts";
import { Extraction } from "../extractions/extractionShape.ts";
import { Collection } from "../knowledge/collectionShape.ts";
import { Passage } from "../knowledge/documentPassages.ts";
import { Document } from "../knowledge/documentShape.ts";
import { Search, SearchResponse } from "../knowledge/searchShape.ts";
import { PageOfSource, Source } from "../knowledge/sourceShape.ts";
import { Verification, VerifyRequest } from "../knowledge/verifyShape.ts";
import { Thread } from "../owned/threadShape.ts";
import { Approval } from "../workflows/approvalShape.ts";
import { RunSummary } from "../workflows/runShape.ts";
import { Trigger } from "../workflows/triggerShape.ts";
import { Workflow } from "../workflows/workflowShape.ts";

/** The schemas that have a name of their own in the API description. */
const NAMED: Record<string, z.ZodType> = {
  Agent,
  AgentResponse,
  AgentResponseRequest: ResponseRequest,
  Approval,
  AuditEvent,
  ChatCompletion: Completion,
  ChatCompletionRequest: CompletionRequest,
  Collection,
  Definition,
  Document,
  Extraction,
  // `File` would hide the browser's own type in generated clients
  FileObject: File,
  Key,
  Member,
  PageOfSource,
  Passage,
  RunSummary,
  SearchRequest: Search,
  SearchResponse,
  Source,
  Thread,
  Trace,
  Trigger,
  TurnSummary,
  Verification,
  VerifyRequest,
  Workflow,
};

/** Gives the schemas their names as titles, by which `completeDescription` finds them. */
export function nameSchemas(): void {
  for (const [title, schema] of Object.entries(NAMED))
    z.globalRegistry.add(schema, { ...z.globalRegistry.get(schema), title });
}

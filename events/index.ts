import type { CommandDefinition, EventDefinition } from "./define.ts";
import * as agent from "./agent.ts";
import * as claim from "./claim.ts";
import * as collection from "./collection.ts";
import * as definition from "./definition.ts";
import * as document from "./document.ts";
import * as extraction from "./extraction.ts";
import * as file from "./file.ts";
import * as key from "./key.ts";
import * as organization from "./organization.ts";
import * as project from "./project.ts";
import * as provider from "./provider.ts";
import * as run from "./run.ts";
import * as secret from "./secret.ts";
import * as session from "./session.ts";
import * as thread from "./thread.ts";
import * as trigger from "./trigger.ts";
import * as user from "./user.ts";
import * as workflow from "./workflow.ts";

const EVENTS = [
  claim.ClaimHeld,
  claim.ClaimReleased,
  organization.OrganizationCreated,
  user.UserRegistered,
  session.SessionStarted,
  session.SessionEnded,
  key.KeyCreated,
  key.KeyChanged,
  key.KeyDeleted,
  provider.ProviderConfigured,
  provider.ProviderRemoved,
  file.FileUploaded,
  file.FileDeleted,
  thread.TurnStarted,
  thread.TurnTakenOver,
  thread.RoundRequested,
  thread.ToolFinished,
  thread.TurnCompleted,
  thread.TurnFailed,
  thread.TurnStopped,
  thread.TurnRefused,
  thread.TurnDeleted,
  thread.ThreadDeleted,
  agent.AgentCreated,
  agent.AgentChanged,
  agent.AgentDeleted,
  project.ProjectCreated,
  project.ProjectChanged,
  project.ProjectDeleted,
  definition.DefinitionCreated,
  definition.DefinitionSaved,
  definition.DefinitionDeleted,
  secret.SecretSet,
  secret.SecretRemoved,
  collection.CollectionCreated,
  collection.CollectionChanged,
  collection.CollectionDeleted,
  collection.CollectionEmptied,
  document.DocumentUploaded,
  document.DocumentReplaced,
  document.DocumentChanged,
  document.DocumentReprocessed,
  document.ReadingStarted,
  document.DocumentRead,
  document.ReadingFailed,
  document.DocumentIndexed,
  document.IndexingFailed,
  document.DocumentDeleted,
  extraction.ExtractionRequested,
  extraction.ExtractionStarted,
  extraction.ExtractionCompleted,
  extraction.ExtractionFailed,
  extraction.ExtractionDeleted,
  extraction.ExtractionExpired,
  workflow.WorkflowRegistered,
  workflow.WorkflowChanged,
  trigger.TriggerCreated,
  trigger.TriggerRotated,
  trigger.TriggerDisabled,
  trigger.TriggerDeleted,
  ...run.RUN_EVENTS,
];

const COMMANDS = [
  organization.CreateOrganization,
  user.RegisterUser,
  session.StartSession,
  session.EndSession,
  key.CreateKey,
  key.ChangeKey,
  key.DeleteKey,
  provider.ConfigureProvider,
  provider.RemoveProvider,
  file.UploadFile,
  file.DeleteFile,
  thread.StartTurn,
  thread.RequestRound,
  thread.FinishTool,
  thread.CompleteTurn,
  thread.RefuseTurn,
  thread.FailTurn,
  thread.StopTurn,
  thread.TakeOverTurn,
  thread.DeleteTurn,
  thread.DeleteThread,
  agent.CreateAgent,
  agent.ChangeAgent,
  agent.DeleteAgent,
  project.CreateProject,
  project.ChangeProject,
  project.DeleteProject,
  definition.CreateDefinition,
  definition.SaveDefinition,
  definition.DeleteDefinition,
  secret.SetSecret,
  secret.RemoveSecret,
  collection.CreateCollection,
  collection.ChangeCollection,
  collection.DeleteCollection,
  collection.EmptyCollection,
  document.UploadDocument,
  document.ReplaceDocument,
  document.ChangeDocument,
  document.ReprocessDocument,
  document.DeleteDocument,
  document.StartReading,
  document.RecordText,
  document.FailReading,
  document.ConfirmIndexed,
  document.FailIndexing,
  extraction.RequestExtraction,
  extraction.StartExtraction,
  extraction.CompleteExtraction,
  extraction.FailExtraction,
  extraction.DeleteExtraction,
  extraction.ExpireExtraction,
  workflow.RegisterWorkflow,
  workflow.ChangeWorkflow,
  trigger.CreateTrigger,
  trigger.RotateTrigger,
  trigger.DisableTrigger,
  trigger.DeleteTrigger,
  run.StartRun,
  run.AdvanceRun,
  run.TakeRun,
  run.DecideApproval,
  run.CancelRun,
  run.FailRun,
  run.ForgetRun,
];

/** Every event that can be in the log, by type. */
export const eventDefinitions: ReadonlyMap<string, EventDefinition> = new Map(EVENTS.map((e) => [e.type, e]));

/** Every command that can be sent, by type. */
export const commandDefinitions: ReadonlyMap<string, CommandDefinition> = new Map(COMMANDS.map((c) => [c.type, c]));

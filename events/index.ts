import type { CommandDefinition, EventDefinition } from "./define.ts";
import * as claim from "./claim.ts";
import * as file from "./file.ts";
import * as key from "./key.ts";
import * as organization from "./organization.ts";
import * as provider from "./provider.ts";
import * as session from "./session.ts";
import * as thread from "./thread.ts";
import * as user from "./user.ts";

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
  thread.TurnCompleted,
  thread.TurnFailed,
  thread.TurnStopped,
  thread.TurnRefused,
  thread.ThreadDeleted,
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
  thread.CompleteTurn,
  thread.RefuseTurn,
  thread.FailTurn,
  thread.StopTurn,
  thread.TakeOverTurn,
  thread.DeleteThread,
];

/** Every event that can be in the log, by type. */
export const eventDefinitions: ReadonlyMap<string, EventDefinition> = new Map(EVENTS.map((e) => [e.type, e]));

/** Every command that can be sent, by type. */
export const commandDefinitions: ReadonlyMap<string, CommandDefinition> = new Map(COMMANDS.map((c) => [c.type, c]));

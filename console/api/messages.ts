import { call } from "./call.ts";

/** An event for the runs that wait for its name. */
export interface Message {
  name: string;
  data: unknown;
  /** A repetition with this id delivers nothing again. */
  id: string | null;
  to: "all" | "one";
}

/** `reached`: runs that received it; null while the delivery continues. */
export const sendMessage = (body: Message) =>
  call<{ id: string; reached: number | null }>("workflows/events", { method: "POST", body });

import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { listEvents, type LogEvent } from "../../api/events.ts";
import { sendMessage, type Message } from "../../api/messages.ts";
import { useRole } from "../../api/useRole.ts";
import { describeEvent } from "../../format/describeEvent.ts";
import { formatCount } from "../../format/index.ts";
import { PrincipalLink } from "../../parts/ActorLink.tsx";
import { labelledChoices, Options } from "../../parts/Choices.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { Form } from "../../parts/Form.tsx";
import { formText, readJson } from "../../parts/formText.ts";
import { EmptyState, QueryResult } from "../../parts/Notices.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";

const TO: Record<Message["to"], string> = {
  all: "all runs that wait for it",
  one: "one run; none if several wait",
};

const readMessage = (form: FormData): Message => ({
  name: formText(form, "name").trim(),
  data: readJson(form, "data", "Data"),
  id: formText(form, "id").trim() || null,
  to: formText(form, "to") === "one" ? "one" : "all",
});

function NewMessage() {
  const send = useMutation({ mutationFn: async (form: FormData) => sendMessage(readMessage(form)) });
  const { reached = 0 } = send.data ?? {};
  const done =
    reached === null
      ? "It is on its way."
      : reached === 0
        ? "No run waited for it, so it had no effect."
        : `It reached ${formatCount(reached, "run")}.`;
  return (
    <Form submit="Send event" done={done} send={send}>
      <h2>Send an event</h2>
      <div className="side-by-side">
        <FormField label="Name" note="as in waitForEvent">
          <input name="name" required maxLength={200} autoComplete="off" spellCheck={false} placeholder="order.paid" />
        </FormField>
        <FormField label="Who gets it">
          <select name="to">
            <Options choices={labelledChoices(TO)} />
          </select>
        </FormField>
        <FormField label="Id" note="optional: a repetition delivers nothing">
          <input name="id" maxLength={255} autoComplete="off" spellCheck={false} />
        </FormField>
      </div>
      <FormField label="Data, as JSON">
        <textarea name="data" rows={4} className="mono" defaultValue="{}" spellCheck={false} />
      </FormField>
    </Form>
  );
}

const COLUMNS: Columns<LogEvent> = [
  {
    title: "Event",
    cell: (event) => (
      <Link to="/log" search={{ stream: event.stream }} data-row>
        {describeEvent(event)}
      </Link>
    ),
  },
  { title: "Sent by", cell: ({ principal }) => <PrincipalLink principal={principal} /> },
  { title: "When", cell: ({ recorded_at }) => <Time at={recorded_at} /> },
];

/** Events that people, keys and webhooks sent, from the log. */
function Sent() {
  const sent = useQuery(listEvents({ type: "MessageDelivered" }, undefined, undefined));
  return (
    <section className="stack" aria-labelledby="sent">
      <h2 id="sent">What came in</h2>
      <QueryResult query={sent} what="events">
        {({ data, has_more }) =>
          data.length === 0 ? (
            <EmptyState title="No event was sent yet">
              <p>
                Send one above, give a webhook of a <Link to="/workflows">workflow</Link> an event, or let a program
                call <code>POST /api/workflows/events</code>.
              </p>
            </EmptyState>
          ) : (
            <>
              <Table caption="Events, newest first" columns={COLUMNS} rows={data} rowKey={({ cursor }) => cursor} />
              {has_more && (
                <Link to="/log" search={{ type: "MessageDelivered" }}>
                  Earlier ones are in the log
                </Link>
              )}
            </>
          )
        }
      </QueryResult>
    </section>
  );
}

/** External events that runs wait for. */
export function Events() {
  const { isAdmin, mayWrite } = useRole();
  return (
    <section className="screen narrow" aria-labelledby="title">
      <h1 id="title">Events</h1>
      <p className="quiet">
        A run that calls <code>waitForEvent</code> goes on when an event of that name is sent. A run’s page says what it
        waits for, and which event ended the wait.
      </p>
      {mayWrite ? <NewMessage /> : <p className="notice plain">A viewer sends none.</p>}
      {isAdmin && <Sent />}
    </section>
  );
}

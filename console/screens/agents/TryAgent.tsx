import { Link } from "@tanstack/react-router";
import { tryAgent, type Agent } from "../../api/build.ts";
import { Form } from "../../parts/Form.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { formText } from "../../parts/formText.ts";
import { Markdown } from "../../parts/Markdown.tsx";
import { useChange } from "../../parts/useChange.ts";

/** Asks the saved version once. */
export function TryAgent({ agent }: { agent: Agent }) {
  const ask = useChange("thread", async (form: FormData) => tryAgent(agent.id, formText(form, "question")));
  return (
    <section className="stack" aria-labelledby="try">
      <h2 id="try">Try it</h2>
      <p className="quiet">
        Asks the saved version {agent.version}.{" "}
        <Link to="/chat" search={{ with: `agent:${agent.id}` }}>
          Have a conversation
        </Link>
      </p>
      <Form submit={ask.isPending ? "It answers…" : "Ask"} send={ask}>
        <FormField label="Question">
          <textarea name="question" rows={3} required />
        </FormField>
      </Form>
      {ask.data && (
        <div className="card part" role="status">
          <Markdown text={ask.data.text || "(no text)"} mark={(n) => `[${n}]`} />
          <p>
            <Link to="/requests/$turnId" params={{ turnId: ask.data.turn_id }}>
              Why?
            </Link>
          </p>
        </div>
      )}
    </section>
  );
}

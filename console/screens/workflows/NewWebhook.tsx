import type { Workflow } from "../../api/build.ts";
import { createTrigger, SIGNERS, type Trigger } from "../../api/triggers.ts";
import { Options, wordChoices } from "../../parts/Choices.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { Form } from "../../parts/Form.tsx";
import { formLines, formText, readJson } from "../../parts/formText.ts";
import { useSaveForm } from "../../parts/useSaveForm.ts";
import { OneTimeSecret } from "../../parts/OneTimeSecret.tsx";

/** The secret of a webhook, with a command that calls it. */
export const HookSecret = ({ trigger, what }: { trigger: Trigger & { secret?: string }; what: string }) =>
  trigger.secret && (
    <OneTimeSecret title={`The webhook “${trigger.name}” ${what}`} secret={trigger.secret}>
      Send it with each request:{" "}
      <code>
        {`curl ${trigger.hook_url} -H "authorization: Bearer ${trigger.secret}" -H "content-type: application/json" -d '{}'`}
      </code>
    </OneTimeSecret>
  );

function readVerification(form: FormData): object | null {
  const scheme = formText(form, "scheme");
  return scheme === "" ? null : { scheme, secret: formText(form, "signing_secret") };
}

function readWebhook(form: FormData) {
  const headers = formLines(form, "headers");
  return {
    name: formText(form, "name"),
    event: formText(form, "event").trim() || null,
    default_args: readJson(form, "default_args", "Default arguments"),
    headers: headers.length > 0 ? headers : null,
    verify: readVerification(form),
  };
}

/** Rarely needed fields. */
const More = () => (
  <details>
    <summary>Default arguments, headers, signed deliveries</summary>
    <div className="stack">
      <FormField label="Default arguments, as JSON">
        <textarea name="default_args" rows={2} className="mono" defaultValue="{}" spellCheck={false} />
      </FormField>
      <FormField label="Headers that the run receives" note="names, one in a line">
        <textarea name="headers" rows={2} className="mono" spellCheck={false} />
      </FormField>
      <div className="side-by-side" data-params="verify">
        <FormField label="Deliveries are signed by">
          <select name="scheme" defaultValue="">
            <option value="">nobody: the secret is sent</option>
            <Options choices={wordChoices(SIGNERS)} />
          </select>
        </FormField>
        <FormField label="Secret of the signer">
          <input name="signing_secret" type="password" autoComplete="off" maxLength={1_024} />
        </FormField>
      </div>
    </div>
  </details>
);

/** A webhook: its calls start runs, or continue waiting runs. */
export function NewWebhook({ workflow }: { workflow: Workflow }) {
  const { send, formKey } = useSaveForm({
    kind: "trigger",
    save: async (form) => createTrigger(workflow.id, readWebhook(form)),
  });
  return (
    <>
      <Form key={formKey} submit="Add webhook" send={send}>
        <FormField label="Name of a new webhook">
          <input name="name" required maxLength={200} autoComplete="off" />
        </FormField>
        <FormField
          label="Event that it sends"
          note="optional: a call then continues the runs that wait for it, and starts none"
        >
          <input name="event" maxLength={200} autoComplete="off" placeholder="order.paid" />
        </FormField>
        <More />
      </Form>
      {send.data && <HookSecret trigger={send.data} what="was added" />}
    </>
  );
}

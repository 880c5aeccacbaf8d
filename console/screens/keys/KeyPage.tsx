import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import {
  changeKey,
  deleteKey,
  getKey,
  rotateKey,
  stateOf,
  type Key,
  type KeySettings,
  type KeyWithSecret,
} from "../../api/keys.ts";
import { listProjects } from "../../api/settings.ts";
import { Dates } from "../../parts/Dates.tsx";
import { Form } from "../../parts/Form.tsx";
import { ForAdministrators } from "../../parts/ForRole.tsx";
import { PrivacyLinks } from "../../parts/PrivacyLinks.tsx";
import { Status } from "../../parts/Status.tsx";
import { ThingActions } from "../../parts/ThingActions.tsx";
import { ThingScreen } from "../../parts/ThingScreen.tsx";
import { Time } from "../../parts/Time.tsx";
import { useChangeForm } from "../../parts/useChangeForm.ts";
import { useLeaveAfter } from "../../parts/useLocationKey.ts";
import { useNow } from "../../parts/useNow.ts";
import { KeyFields, readKeyFields } from "./KeyFields.tsx";
import { KeySecret } from "./KeySecret.tsx";

const route = getRouteApi("/keys/$keyId");

function Facts({ apiKey }: { apiKey: Key }) {
  const { data: projects } = useQuery(listProjects);
  const { id, key_hint, project_id, last_used_at, expires_at, created_at, updated_at } = apiKey;
  return (
    <dl className="facts">
      <dt>Secret</dt>
      <dd>
        ends with <span className="mono">{key_hint}</span>
      </dd>
      <dt>Project</dt>
      <dd>
        {project_id ? (
          <Link to="/keys" search={{ project: project_id }}>
            {projects?.data.find((project) => project.id === project_id)?.name ?? project_id}
          </Link>
        ) : (
          "none: it reaches the whole organization"
        )}
      </dd>
      <dt>Last used</dt>
      <dd>{last_used_at ? <Time at={last_used_at} /> : "never"}</dd>
      <dt>Expires</dt>
      <dd>{expires_at ? <Time at={expires_at} /> : "never"}</dd>
      <Dates id={id} created={created_at} changed={updated_at} />
      <dt>See</dt>
      <dd>
        <Link to="/requests" search={{ who: `key:${id}` }}>
          its requests
        </Link>
        {" · "}
        <Link to="/spending" search={{ edit: `key:${id}` }}>
          its budget
        </Link>
        {" · "}
        <Link to="/log" search={{ stream: `key-${id}` }}>
          its log
        </Link>
        {" · "}
        <Link to="/log" search={{ who: `key:${id}` }}>
          what it did
        </Link>
        <PrivacyLinks subject={`key:${id}`} />
      </dd>
    </dl>
  );
}

function Actions({ apiKey: { id, name, enabled } }: { apiKey: Key }) {
  const leaveAfter = useLeaveAfter();
  const [rotated, setRotated] = useState<KeyWithSecret>();
  const actions = [
    {
      label: enabled ? "Disable" : "Enable",
      question: enabled
        ? `Disable the key “${name}”? Its requests are refused at once, until it is enabled.`
        : undefined,
      run: () => changeKey(id, { enabled: !enabled }),
    },
    {
      label: "New secret",
      question: `Give the key “${name}” a new secret? Requests with the current one are refused at once. To change it without a pause, cancel, and make a second key first.`,
      isDangerous: true,
      run: async () => setRotated(await rotateKey(id)),
    },
    {
      label: "Delete",
      question: `Delete the key “${name}”? Its requests are refused at once, for good. Its conversations and files stay.`,
      isDangerous: true,
      run: () => leaveAfter(() => deleteKey(id), { to: "/keys", ignoreBlocker: true }),
    },
  ];
  return (
    <>
      <ThingActions actions={actions} kind="key" />
      <p className="quiet">
        A new secret ends the old one at once. To change it without a pause, make a{" "}
        <Link to="/keys/new" search={{ like: id }}>
          second key
        </Link>{" "}
        with the same settings, and delete this one once it is not used any more.
      </p>
      {rotated && <KeySecret title="The key has a new secret" changed={rotated} />}
    </>
  );
}

function Settings({ apiKey }: { apiKey: Key }) {
  const { before, save } = useChangeForm<KeySettings, Key>(apiKey, {
    read: (form, { expires_at }) => readKeyFields(form, expires_at),
    change: (changes) => changeKey(apiKey.id, changes),
    queryKeys: [["key"]],
  });
  return (
    <section aria-labelledby="settings" className="stack">
      <h2 id="settings">Settings</h2>
      <Form submit="Save" done="Saved." send={save}>
        <KeyFields settings={before} />
      </Form>
    </section>
  );
}

const Details = ({ apiKey }: { apiKey: Key }) => (
  <>
    <header className="title-line">
      <h1>{apiKey.name}</h1>
      <Status status={stateOf(apiKey, useNow())} />
    </header>
    <Actions apiKey={apiKey} />
    <Facts apiKey={apiKey} />
    <Settings apiKey={apiKey} />
  </>
);

function ReadKey() {
  const { keyId } = route.useParams();
  const key = useQuery(getKey(keyId));
  return (
    <ThingScreen back={<Link to="/keys">← Keys</Link>} query={key} kind="Key" narrow>
      {(data) => <Details key={data.id} apiKey={data} />}
    </ThingScreen>
  );
}

/** One API key: its limits, its last use, and the actions that disable or delete it. */
export const KeyPage = () => (
  <ForAdministrators what="API keys">
    <ReadKey />
  </ForAdministrators>
);

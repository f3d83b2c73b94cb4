// A certificate that nobody vouches for, for localhost.

import { generate } from "selfsigned";

/** A key and a certificate in PEM. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

let made: Promise<Certificate> | undefined;

/** One a process, since making a key takes its time. */
export async function certificate(): Promise<Certificate> {
  made ??= generate([{ name: "commonName", value: "localhost" }], {
    keyType: "ec",
    extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: "localhost" }] }],
  }).then(({ private: key, cert }) => ({ key, cert }));
  return await made;
}

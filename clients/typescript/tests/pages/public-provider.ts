// A page with the public OpenFeature provider.

import { OFREPWebProvider } from "@openfeature/ofrep-web-provider";
import { OpenFeature, type Provider, ProviderEvents } from "@openfeature/web-sdk";

export async function start(url: string, key: string): Promise<void> {
  window.seen = [];
  const client = OpenFeature.getClient();
  client.addHandler(ProviderEvents.ConfigurationChanged, () => {
    window.seen.push({ value: client.getNumberValue("pushed", -1), at: performance.timeOrigin + performance.now() });
  });
  await OpenFeature.setContext({ targetingKey: "alice" });
  const provider = new OFREPWebProvider({ baseUrl: url, headers: [["Authorization", `Bearer ${key}`]] });
  await OpenFeature.setProviderAndWait(provider as Provider); // its optional members are declared less strictly
}

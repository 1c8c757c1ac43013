// Browsers start no worker for a page that was opened from a file. There a hidden frame does the work of one, so that the
// search works without a server. Material for MkDocs looks for the name IFrameWorker and, in it, for an importScripts
// that returns a promise.
if (location.protocol === "file:") {
  class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...urls) => urls.reduce((before, one) => before.then(() => this.load(one)), Promise.resolve());
      this.ready = inside.importScripts(url);
    }

    load(url) {
      return new Promise((done, failed) => {
        const { contentDocument } = this.frame;
        const script = contentDocument.createElement("script");
        script.src = url;
        script.onload = done;
        script.onerror = () => failed(new Error(`cannot load ${url}`));
        contentDocument.body.append(script);
      });
    }

    postMessage(data) {
      this.ready.then(() => {
        const inside = this.frame.contentWindow;
        inside.dispatchEvent(new inside.MessageEvent("message", { data }));
      });
    }

    terminate() {
      this.frame.remove();
    }
  }
  Object.assign(window, { IFrameWorker, Worker: IFrameWorker });
}

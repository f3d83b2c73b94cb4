// What an API server says of one object: strict decoding, defaults, rules, warnings, and the security of its Pods.
package main

import (
	"encoding/json"
	"fmt"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	psa "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

type server struct {
	decoder  runtime.Decoder
	foreign  runtime.Decoder
	security policy.Evaluator
}

func newServer() (*server, error) {
	foreign := runtime.NewScheme()
	if err := monitoring.AddToScheme(foreign); err != nil {
		return nil, err
	}
	security, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return nil, err
	}
	return &server{
		decoder:  serializer.NewCodecFactory(legacyscheme.Scheme, serializer.EnableStrict).UniversalDecoder(),
		foreign:  serializer.NewCodecFactory(foreign, serializer.EnableStrict).UniversalDeserializer(),
		security: security,
	}, nil
}

// problems tells all that is wrong with an object, each with its kind and name before it.
func (one *server) problems(object json.RawMessage) []string {
	var head metav1.PartialObjectMetadata
	if err := json.Unmarshal(object, &head); err != nil {
		return []string{err.Error()}
	}
	decoder := one.decoder
	foreign := head.GroupVersionKind().Group == monitoring.SchemeGroupVersion.Group
	if foreign {
		decoder = one.foreign // no part of Kubernetes: names and types of its fields are known, and no rules beyond
	}
	decoded, found := decode(decoder, object)
	if decoded != nil && !foreign {
		found = one.faults(decoded)
	}
	for number, text := range found {
		found[number] = fmt.Sprintf("%s/%s: %s", head.Kind, head.Name, text)
	}
	return found
}

// decode gives the object with its defaults, or all that is wrong with its fields.
func decode(decoder runtime.Decoder, object json.RawMessage) (runtime.Object, []string) {
	decoded, _, err := decoder.Decode(object, nil, nil)
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		var found []string
		for _, one := range strict.Errors() {
			found = append(found, one.Error())
		}
		return nil, found
	}
	if err != nil {
		return nil, []string{err.Error()}
	}
	return decoded, nil
}

// faults tells what the rules say of a decoded object.
func (one *server) faults(decoded runtime.Object) []string {
	verdict, known := judge(decoded)
	if !known {
		return []string{"no rules for this kind; add them to tools/manifests/rules.go"}
	}
	var found []string
	for _, wrong := range verdict.errors {
		found = append(found, wrong.Error())
	}
	for _, text := range verdict.warnings {
		found = append(found, "warning: "+text)
	}
	if verdict.pod != nil {
		found = append(found, one.insecure(verdict.pod)...)
	}
	return found
}

// insecure tells what the Pod Security Standard `restricted` forbids of a Pod.
func (one *server) insecure(pod *core.PodTemplateSpec) []string {
	var outer corev1.PodTemplateSpec
	if err := legacyscheme.Scheme.Convert(pod, &outer, nil); err != nil {
		return []string{err.Error()}
	}
	var found []string
	restricted := psa.LevelVersion{Level: psa.LevelRestricted, Version: psa.LatestVersion()}
	for _, check := range one.security.EvaluatePod(restricted, &outer.ObjectMeta, &outer.Spec) {
		if !check.Allowed {
			found = append(found, fmt.Sprintf("pod security: %s: %s", check.ForbiddenReason, check.ForbiddenDetail))
		}
	}
	return found
}

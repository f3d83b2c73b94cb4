// The API server's own rules for a create, by kind.
package main

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	podapi "k8s.io/kubernetes/pkg/api/pod"
	serviceapi "k8s.io/kubernetes/pkg/api/service"
	"k8s.io/kubernetes/pkg/apis/apps"
	appsvalidation "k8s.io/kubernetes/pkg/apis/apps/validation"
	"k8s.io/kubernetes/pkg/apis/core"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/apis/networking"
	networkingvalidation "k8s.io/kubernetes/pkg/apis/networking/validation"
	"k8s.io/kubernetes/pkg/apis/policy"
	policyvalidation "k8s.io/kubernetes/pkg/apis/policy/validation"
)

const namespace = "routing" // what `kubectl --namespace` would put in

// verdict is what was found of one object, and the Pod that it makes, if it makes any.
type verdict struct {
	errors   field.ErrorList
	warnings []string
	pod      *core.PodTemplateSpec
}

// judge gives the verdict on a decoded object with its defaults; false where there are no rules for its kind, so that
// nothing goes unlooked at.
func judge(object runtime.Object) (verdict, bool) {
	if about, ok := object.(metav1.Object); ok && about.GetNamespace() == "" {
		about.SetNamespace(namespace)
	}
	switch one := object.(type) {
	case *core.ConfigMap:
		return verdict{errors: corevalidation.ValidateConfigMap(one)}, true
	case *core.ServiceAccount:
		return verdict{errors: corevalidation.ValidateServiceAccount(one)}, true
	case *core.Service:
		if one.Spec.ClusterIP != "" && len(one.Spec.ClusterIPs) == 0 {
			one.Spec.ClusterIPs = []string{one.Spec.ClusterIP} // as the server does before it looks
		}
		return verdict{
			errors:   corevalidation.ValidateServiceCreate(one),
			warnings: serviceapi.GetWarningsForService(one, nil),
		}, true
	case *core.PersistentVolumeClaim:
		options := corevalidation.ValidationOptionsForPersistentVolumeClaim(one, nil)
		return verdict{errors: corevalidation.ValidatePersistentVolumeClaim(one, options)}, true
	case *core.Pod:
		template := &core.PodTemplateSpec{ObjectMeta: one.ObjectMeta, Spec: one.Spec}
		options := podapi.GetValidationOptionsFromPodTemplate(template, nil)
		return ofPod(corevalidation.ValidatePodCreate(one, options), template, nil), true
	case *apps.Deployment:
		options := podapi.GetValidationOptionsFromPodTemplate(&one.Spec.Template, nil)
		path := field.NewPath("spec", "template")
		return ofPod(appsvalidation.ValidateDeployment(one, options), &one.Spec.Template, path), true
	case *networking.NetworkPolicy:
		options := networkingvalidation.ValidationOptionsForNetworking(one, nil)
		return verdict{errors: networkingvalidation.ValidateNetworkPolicy(one, options)}, true
	case *policy.PodDisruptionBudget:
		options := policyvalidation.PodDisruptionBudgetValidationOptions{}
		return verdict{errors: policyvalidation.ValidatePodDisruptionBudget(one, options)}, true
	}
	return verdict{}, false
}

func ofPod(errors field.ErrorList, template *core.PodTemplateSpec, path *field.Path) verdict {
	warnings := podapi.GetWarningsForPodTemplate(context.Background(), path, template, nil)
	return verdict{errors, warnings, template}
}
